# A toolkit to CMake: the INTERFACE target AivOps::toolkit-<machine>. Its properties name the compiler's and the linker's
# targets, its include directories are those of the device headers, and nothing else in the build asks which toolkit it is.

# The processor of the machine that runs the compilers, as toolkits spell it.
function(_aivops_host_cpu out)
    set(processor "${CMAKE_HOST_SYSTEM_PROCESSOR}")
    if(processor STREQUAL "")
        # Before project().
        cmake_host_system_information(RESULT processor QUERY OS_PLATFORM)
    endif()
    string(TOLOWER "${processor}" cpu)
    if(cpu MATCHES "^(amd64|x86_64)$")
        set(cpu x86_64)
    elseif(cpu MATCHES "arm|aarch64")
        set(cpu aarch64)
    endif()
    set(${out} "${cpu}" PARENT_SCOPE)
endfunction()

# The processor that emulated kernels are made for: that of the emulated toolkit at hand.
function(_aivops_emulated_cpu out)
    _aivops_host_cpu(cpu)
    if(NOT TARGET AivOps::toolkit-emulated-${cpu} AND TARGET AivOps::toolkit-emulated-aarch64)
        set(cpu aarch64)
    endif()
    set(${out} "${cpu}" PARENT_SCOPE)
endfunction()

# The command that runs a tool. One that this very build makes for another processor runs under the emulator of that.
function(_aivops_tool_command out tool)
    get_target_property(imported ${tool} IMPORTED)
    set(command "$<TARGET_FILE:${tool}>")
    if(CMAKE_CROSSCOMPILING AND NOT imported)
        list(PREPEND command ${CMAKE_CROSSCOMPILING_EMULATOR})
    endif()
    set(${out} "${command}" PARENT_SCOPE)
endfunction()

# MACHINE, NAME, VERSION, ROOT, COMPILER and LINKER (targets), PROBED (whether the compiler exists already and is to be
# asked what it can do), INCLUDE_DIRECTORIES.
function(_aivops_define_toolkit)
    cmake_parse_arguments(
        PARSE_ARGV 0
        arg
        "PROBED"
        "MACHINE;NAME;VERSION;ROOT;COMPILER;LINKER"
        "INCLUDE_DIRECTORIES"
    )
    set(toolkit AivOps::toolkit-${arg_MACHINE})
    if(TARGET ${toolkit})
        return()
    endif()
    add_library(${toolkit} INTERFACE IMPORTED GLOBAL)
    set_target_properties(
        ${toolkit}
        PROPERTIES
            AIVOPS_MACHINE "${arg_MACHINE}"
            AIVOPS_NAME "${arg_NAME}"
            AIVOPS_VERSION "${arg_VERSION}"
            AIVOPS_ROOT "${arg_ROOT}"
            AIVOPS_COMPILER "${arg_COMPILER}"
            AIVOPS_LINKER "${arg_LINKER}"
            AIVOPS_PROBED "${arg_PROBED}"
            INTERFACE_INCLUDE_DIRECTORIES "${arg_INCLUDE_DIRECTORIES}"
    )
endfunction()

# Looks at a folder laid out like a CANN installation and defines its toolkit. `machine` is what it makes binaries for;
# `error` says what the folder lacks.
function(_aivops_define_toolkit_at machine error root)
    set(${machine} "" PARENT_SCOPE)
    if(NOT IS_DIRECTORY "${root}")
        set(${error} "the toolkit folder ${root} does not exist" PARENT_SCOPE)
        return()
    endif()
    file(REAL_PATH "${root}" root)
    _aivops_host_cpu(cpu)

    _aivops_find_device_tool(compiler "${root}" "${cpu}" ccec bisheng)
    _aivops_find_device_tool(linker "${root}" "${cpu}" ld.lld)
    _aivops_find_device_headers(include_directories "${root}" "${cpu}")
    set(missing "")
    if(NOT compiler)
        list(APPEND missing "a kernel compiler (ccec or bisheng under tools/ccec_compiler/bin)")
    endif()
    if(NOT linker)
        list(APPEND missing "a kernel linker (ld.lld under tools/ccec_compiler/bin)")
    endif()
    if(NOT include_directories)
        list(
            APPEND missing
            "device headers (kernel_operator.h under ${cpu}-linux/asc/include or ${cpu}-linux/tikcpp/tikcfw)"
        )
    endif()
    if(missing)
        list(JOIN missing "; " missing)
        set(${error} "the toolkit at ${root} lacks ${missing}" PARENT_SCOPE)
        return()
    endif()

    if(EXISTS "${root}/share/info/aivops/toolkit.json")
        file(READ "${root}/share/info/aivops/toolkit.json" description)
        foreach(key IN ITEMS name version machine)
            string(JSON ${key}_value ERROR_VARIABLE json_error GET "${description}" ${key})
            if(json_error)
                set(${error} "${root}/share/info/aivops/toolkit.json: ${json_error}" PARENT_SCOPE)
                return()
            endif()
        endforeach()
    else()
        set(name_value cann)
        set(machine_value ascend)
        _aivops_read_cann_version(version_value number "${root}" "${cpu}")
        if(NOT number)
            set(version_value unknown)
        elseif(number VERSION_LESS 8.0)
            set(${error}
                "the toolkit at ${root} is CANN ${version_value}; AivOps needs 8.0 or newer"
                PARENT_SCOPE
            )
            return()
        endif()
    endif()

    foreach(tool IN ITEMS compiler linker)
        set(tool_target AivOps::${tool}-${machine_value})
        if(NOT TARGET ${tool_target})
            add_executable(${tool_target} IMPORTED GLOBAL)
            set_target_properties(${tool_target} PROPERTIES IMPORTED_LOCATION "${${tool}}")
        endif()
    endforeach()
    _aivops_define_toolkit(
        PROBED
        MACHINE "${machine_value}"
        NAME "${name_value}"
        VERSION "${version_value}"
        ROOT "${root}"
        COMPILER AivOps::compiler-${machine_value}
        LINKER AivOps::linker-${machine_value}
        INCLUDE_DIRECTORIES ${include_directories}
    )
    set(${machine} "${machine_value}" PARENT_SCOPE)
    set(${error} "" PARENT_SCOPE)
endfunction()

# The first of the named tools in the places where releases from 7 to 9 keep them. PATH is not searched: a compiler of
# another toolkit than the chosen one would be taken silently.
function(_aivops_find_device_tool out root cpu)
    foreach(tool IN LISTS ARGN)
        foreach(folder IN ITEMS ${cpu}-linux tools compiler ascendc_devkit)
            set(path "${root}/${folder}/ccec_compiler/bin/${tool}")
            if(EXISTS "${path}" AND NOT IS_DIRECTORY "${path}")
                set(${out} "${path}" PARENT_SCOPE)
                return()
            endif()
        endforeach()
    endforeach()
    set(${out} "" PARENT_SCOPE)
endfunction()

# Include directories of the device headers: the root that has kernel_operator.h, then those of its companions that exist.
function(_aivops_find_device_headers out root cpu)
    set(arch_root "${root}/${cpu}-linux")
    set(sub_roots
        basic_api
        basic_api/reg_compute
        adv_api
        c_api
        simt_api
        aicpu_api
        utils
        interface
        tiling
    )
    set(asc_roots "")
    foreach(folder IN ITEMS "${arch_root}/asc/include" "${arch_root}/asc/impl")
        list(APPEND asc_roots "${folder}")
        list(TRANSFORM sub_roots PREPEND "${folder}/" OUTPUT_VARIABLE expanded)
        list(APPEND asc_roots ${expanded})
    endforeach()
    set(tik_roots "")
    foreach(
        folder
        IN
        ITEMS "${arch_root}/tikcpp/tikcfw" "${root}/compiler/tikcpp/tikcfw" "${root}/tools/tikcpp/tikcfw"
    )
        list(APPEND tik_roots "${folder}" "${folder}/interface" "${folder}/impl")
    endforeach()
    list(
        APPEND tik_roots
        "${arch_root}/ascendc/include/basic_api"
        "${arch_root}/ascendc/include/highlevel_api"
    )

    set(found "")
    foreach(layout IN ITEMS asc_roots tik_roots)
        foreach(folder IN LISTS ${layout})
            if(EXISTS "${folder}/kernel_operator.h")
                set(found "${folder}")
                break()
            endif()
        endforeach()
        if(found)
            foreach(folder IN LISTS ${layout})
                if(IS_DIRECTORY "${folder}")
                    list(APPEND found "${folder}")
                endif()
            endforeach()
            if(IS_DIRECTORY "${arch_root}/include")
                list(APPEND found "${arch_root}/include")
            endif()
            break()
        endif()
    endforeach()
    list(REMOVE_DUPLICATES found)
    set(${out} "${found}" PARENT_SCOPE)
endfunction()

# The file of an imported executable, whatever configuration it was exported with.
function(_aivops_imported_file out target)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    get_target_property(file ${target} IMPORTED_LOCATION)
    if(configurations)
        list(GET configurations 0 configuration)
        get_target_property(file ${target} IMPORTED_LOCATION_${configuration})
    endif()
    set(${out} "${file}" PARENT_SCOPE)
endfunction()

# Lets an imported executable run another file.
function(_aivops_replace_executable target path)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${path}" IMPORTED_CONFIGURATIONS "")
endfunction()
