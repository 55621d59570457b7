# The commands that make one verified kernel binary: one compile per source, then link and verification in one step.

# Everything a compile of `target` for one machine and architecture takes, in the order of the command line.
# -I and -D come from <target>-usage, which LINK_LIBRARIES and the like of aivops_add_kernels() feed.
function(_aivops_compile_arguments out target machine architecture)
    get_target_property(flags ${target}-usage AIVOPS_FLAGS_${architecture})
    get_target_property(options ${target}-usage AIVOPS_COMPILE_OPTIONS)
    set(usage "$<TARGET_PROPERTY:${target}-usage,INTERFACE_")
    set(headers "$<TARGET_PROPERTY:AivOps::toolkit-${machine},INTERFACE_INCLUDE_DIRECTORIES>")
    set(definitions "$<FILTER:${usage}COMPILE_DEFINITIONS>,EXCLUDE,^$>")
    set(includes "$<FILTER:$<REMOVE_DUPLICATES:${usage}INCLUDE_DIRECTORIES>;${headers}>,EXCLUDE,^$>")

    _aivops_supports_prefix_maps(maps ${target} ${machine} ${architecture})
    set(arguments ${flags})
    if(maps)
        # The places of trees, toolkit and other packages' headers do not show in a binary. One may lie in another:
        # compilers take the last map that fits.
        get_target_property(root AivOps::toolkit-${machine} AIVOPS_ROOT)
        list(
            APPEND arguments
            "-ffile-prefix-map=$<JOIN:${includes},=include;-ffile-prefix-map=>=include"
            "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=."
            "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build"
            "-ffile-prefix-map=${root}=toolkit"
        )
    endif()
    list(
        APPEND arguments
        "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
        "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
        ${options}
        "$<FILTER:${usage}COMPILE_OPTIONS>,EXCLUDE,^$>"
    )
    set(${out} "${arguments}" PARENT_SCOPE)
endfunction()

# Asks an installed compiler whether it compiles for the architecture at all, which is an error when it does not, and
# whether it takes -ffile-prefix-map. What this very build makes does both.
function(_aivops_supports_prefix_maps out target machine architecture)
    set(${out} TRUE PARENT_SCOPE)
    get_target_property(probed AivOps::toolkit-${machine} AIVOPS_PROBED)
    if(NOT probed)
        return()
    endif()
    get_target_property(flags ${target}-usage AIVOPS_FLAGS_${architecture})
    get_target_property(compiler AivOps::toolkit-${machine} AIVOPS_COMPILER)
    _aivops_imported_file(compiler ${compiler})
    _aivops_probe_compiler(said "${compiler}" ${flags})
    if(NOT said STREQUAL "")
        message(
            FATAL_ERROR
            "aivops_add_kernels(${target}): ${compiler} does not compile for ${architecture}: ${said}"
        )
    endif()
    _aivops_probe_compiler(said "${compiler}" ${flags} -ffile-prefix-map=a=b)
    if(NOT said STREQUAL "")
        set(${out} FALSE PARENT_SCOPE)
    endif()
endfunction()

# Writes what a command is made of to a file, when it changes. Commands depend on theirs: Ninja runs a command again when
# its line changes, Makefiles do not.
function(_aivops_record_command file)
    list(JOIN ARGN "\n" text)
    file(GENERATE OUTPUT "${file}" CONTENT "${text}\n")
endfunction()

# One custom command per source. A command begins by removing `stale`, the final files that hang on the object: a build
# that fails to compile must not leave what an older source made.
function(_aivops_compile_sources objects target machine architecture)
    cmake_parse_arguments(PARSE_ARGV 4 arg "" "FOLDER" "SOURCES;STALE")
    get_target_property(compiler AivOps::toolkit-${machine} AIVOPS_COMPILER)
    _aivops_tool_command(ccec ${compiler})
    _aivops_compile_arguments(arguments ${target} ${machine} ${architecture})

    _aivops_record_command("${arg_FOLDER}/compile.txt" ${AIVOPS_COMPILER_LAUNCHER} ${arguments})
    set(made "")
    foreach(source IN LISTS arg_SOURCES)
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE shown)
        string(REPLACE ".." "__" inside "${shown}")
        set(object "${arg_FOLDER}/${inside}.o")
        cmake_path(GET object PARENT_PATH folder)
        add_custom_command(
            OUTPUT "${object}"
            COMMAND "${CMAKE_COMMAND}" -E rm -f "${object}" ${arg_STALE}
            COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
            COMMAND
                ${AIVOPS_COMPILER_LAUNCHER} ${ccec} -c -x cce "${arguments}" "${source}" -o "${object}" -MD
                -MT "${object}" -MF "${object}.d"
            DEPENDS "${source}" "${arg_FOLDER}/compile.txt" ${compiler} "$<TARGET_FILE:${compiler}>"
            DEPFILE "${object}.d"
            COMMENT "Compiling ${shown} for ${machine}, ${architecture}"
            VERBATIM
            COMMAND_EXPAND_LISTS
        )
        list(APPEND made "${object}")
    endforeach()
    set(${objects} "${made}" PARENT_SCOPE)
endfunction()

# The command line of CANN's kernel link.
function(_aivops_link_command out machine output)
    get_target_property(linker AivOps::toolkit-${machine} AIVOPS_LINKER)
    _aivops_tool_command(command ${linker})
    set(${out}
        ${command}
        -m
        aicorelinux
        -Ttext=0
        ${ARGN}
        -static
        -o
        "${output}"
        PARENT_SCOPE
    )
endfunction()

# Links and verifies. The linker writes a temporary; the verifier alone gives it its final name, and removes an older file
# of that name first, as does the command itself in case the link fails.
function(_aivops_link_and_verify target machine architecture)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "OUTPUT;LAYOUT" "OBJECTS;KERNELS")
    get_target_property(linker AivOps::toolkit-${machine} AIVOPS_LINKER)
    get_target_property(name AivOps::toolkit-${machine} AIVOPS_NAME)
    get_target_property(version AivOps::toolkit-${machine} AIVOPS_VERSION)
    set(temporary "${arg_OUTPUT}.unverified")
    _aivops_link_command(link ${machine} "${temporary}" ${arg_OBJECTS})
    _aivops_tool_command(verify AivOps::verify)
    list(TRANSFORM arg_KERNELS PREPEND --kernel= OUTPUT_VARIABLE kernels)
    set(layout "")
    if(DEFINED arg_LAYOUT)
        set(layout "--layout-from=${arg_LAYOUT}")
    endif()
    cmake_path(GET arg_OUTPUT PARENT_PATH folder)
    _aivops_record_command(
        "${arg_OUTPUT}.txt"
        ${link}
        ${kernels}
        ${layout}
        ${name}
        ${version}
    )
    add_custom_command(
        OUTPUT "${arg_OUTPUT}" "${arg_OUTPUT}.json"
        COMMAND "${CMAKE_COMMAND}" -E rm -f "${arg_OUTPUT}" "${arg_OUTPUT}.json"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
        COMMAND ${link}
        COMMAND
            ${verify} --profile aiv --architecture ${architecture} ${kernels} --move-to "${arg_OUTPUT}"
            --record "${arg_OUTPUT}.json" ${layout} --toolkit-name "${name}" --toolkit-version "${version}"
            --target ${target} "${temporary}"
        DEPENDS
            ${arg_OBJECTS}
            ${arg_LAYOUT}
            "${arg_OUTPUT}.txt"
            ${linker}
            "$<TARGET_FILE:${linker}>"
            AivOps::verify
            "$<TARGET_FILE:AivOps::verify>"
        COMMENT "Linking and verifying ${target} for ${machine}, ${architecture}"
        VERBATIM
    )
endfunction()

# Links the emulated twin of a binary, from which the argument layout of another machine's binary is read.
function(
    _aivops_link_twin
    target
    machine
    architecture
    output
    objects
)
    get_target_property(linker AivOps::toolkit-${machine} AIVOPS_LINKER)
    _aivops_link_command(link ${machine} "${output}" ${objects})
    add_custom_command(
        OUTPUT "${output}"
        COMMAND ${link}
        DEPENDS ${objects} ${linker} "$<TARGET_FILE:${linker}>"
        COMMENT "Linking the argument layouts of ${target} for ${architecture}"
        VERBATIM
    )
endfunction()

# All binaries of a target for one architecture. Appends to the lists that the caller names: files, and where each belongs
# below an install destination.
function(_aivops_add_binaries target architecture)
    cmake_parse_arguments(
        PARSE_ARGV 2
        arg
        ""
        "OUTPUT_NAME;NO_LAYOUT;BINARIES;PATHS"
        "MACHINES;SOURCES;KERNELS"
    )
    get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    set(config "")
    if(multi_config)
        set(config "/$<CONFIG>")
    endif()
    set(object_root "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir${config}")
    set(output_root "${CMAKE_CURRENT_BINARY_DIR}/kernels${config}")

    # Layouts of `ascend` binaries come from the emulated build of the same sources.
    _aivops_emulated_cpu(cpu)
    set(emulated "emulated-${cpu}")
    set(machines ${arg_MACHINES})
    set(needs_twin FALSE)
    if("ascend" IN_LIST machines AND NOT arg_NO_LAYOUT)
        set(needs_twin TRUE)
        list(PREPEND machines "${emulated}")
        list(REMOVE_DUPLICATES machines)
    endif()
    set(emulated_output "${output_root}/${emulated}/${architecture}/${arg_OUTPUT_NAME}.o")
    set(ascend_output "${output_root}/ascend/${architecture}/${arg_OUTPUT_NAME}.o")

    foreach(machine IN LISTS machines)
        set(path "${machine}/${architecture}/${arg_OUTPUT_NAME}.o")
        set(output "${output_root}/${path}")
        set(stale "${output}" "${output}.json")
        if(needs_twin AND machine STREQUAL emulated)
            list(APPEND stale "${ascend_output}" "${ascend_output}.json")
        endif()
        _aivops_compile_sources(
            objects
            ${target}
            ${machine}
            ${architecture}
            FOLDER "${object_root}/${machine}/${architecture}"
            SOURCES ${arg_SOURCES}
            STALE ${stale}
        )
        set(layout "")
        if(NOT machine IN_LIST arg_MACHINES)
            set(twin "${object_root}/${machine}/${architecture}.o")
            _aivops_link_twin(${target} ${machine} ${architecture} "${twin}" "${objects}")
            continue()
        elseif(needs_twin AND machine STREQUAL "ascend")
            set(layout LAYOUT "${emulated_output}")
            if(DEFINED twin)
                set(layout LAYOUT "${twin}")
            endif()
        endif()
        _aivops_link_and_verify(
            ${target}
            ${machine}
            ${architecture}
            OUTPUT "${output}"
            ${layout}
            OBJECTS ${objects}
            KERNELS ${arg_KERNELS}
        )
        list(APPEND ${arg_BINARIES} "${output}")
        list(APPEND ${arg_PATHS} "${path}")
    endforeach()
    set(${arg_BINARIES} "${${arg_BINARIES}}" PARENT_SCOPE)
    set(${arg_PATHS} "${${arg_PATHS}}" PARENT_SCOPE)
endfunction()
