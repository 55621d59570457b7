# Chooses the toolkits of a build: the one that is named, CANN where `ascend` kernels are asked for, and the emulated one.

# Where a CANN installation is: what a variable names, else a standard place, else empty.
function(_aivops_locate_cann root)
    foreach(
        candidate
        IN
        ITEMS
            "${ASCEND_HOME_PATH}"
            "$ENV{ASCEND_HOME_PATH}"
            "${ASCEND_CANN_PACKAGE_PATH}"
            "$ENV{ASCEND_TOOLKIT_HOME}"
    )
        # An emulated toolkit may stand in these variables too; it is no CANN.
        if(NOT candidate STREQUAL "" AND NOT EXISTS "${candidate}/share/info/aivops/toolkit.json")
            set(${root} "${candidate}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
    foreach(base IN ITEMS /usr/local/Ascend "$ENV{HOME}/Ascend")
        foreach(name IN ITEMS cann ascend-toolkit/latest latest)
            if(IS_DIRECTORY "${base}/${name}")
                set(${root} "${base}/${name}" PARENT_SCOPE)
                return()
            endif()
        endforeach()
    endforeach()
    set(${root} "" PARENT_SCOPE)
endfunction()

# The toolkit that AIVOPS_TOOLKIT (variable, then environment: cann, emulator or a path) or else ASCEND_HOME_PATH names;
# empty means the emulated one that belongs to this package.
function(_aivops_named_toolkit root error)
    set(${error} "" PARENT_SCOPE)
    set(choice "${AIVOPS_TOOLKIT}")
    if(choice STREQUAL "")
        set(choice "$ENV{AIVOPS_TOOLKIT}")
    endif()
    set(named "")
    if(choice STREQUAL "cann")
        _aivops_locate_cann(named)
        if(named STREQUAL "")
            set(${error}
                "AIVOPS_TOOLKIT is cann, but no CANN installation was found: set ASCEND_HOME_PATH to its root"
                PARENT_SCOPE
            )
        endif()
    elseif(NOT choice STREQUAL "" AND NOT choice STREQUAL "emulator")
        set(named "${choice}")
    elseif(choice STREQUAL "")
        if(NOT "${ASCEND_HOME_PATH}" STREQUAL "")
            set(named "${ASCEND_HOME_PATH}")
        else()
            set(named "$ENV{ASCEND_HOME_PATH}")
        endif()
    endif()
    set(${root} "${named}" PARENT_SCOPE)
endfunction()

# The public cache variables.
function(_aivops_declare_cache_variables)
    set(AIVOPS_ARCHITECTURES
        "dav-c220-vec;dav-c310-vec"
        CACHE STRING
        "Architectures that kernels are compiled for, unless a call of aivops_add_kernels() names others"
    )
    set(AIVOPS_MACHINES
        ""
        CACHE STRING
        "Machines that kernels are compiled for: ascend, emulated. Empty: the machine of the selected toolkit"
    )
endfunction()

# Defines the toolkits that variables ask for, and AivOps::toolkit, which tells the selected one's machine. `error` is empty
# on success. NEED_CANN asks for CANN whatever AIVOPS_MACHINES says.
function(_aivops_select_toolkits error)
    cmake_parse_arguments(PARSE_ARGV 1 arg "NEED_CANN" "" "")
    _aivops_emulated_cpu(cpu)
    set(selected "emulated-${cpu}")
    _aivops_named_toolkit(root problem)
    if(problem STREQUAL "" AND NOT root STREQUAL "")
        _aivops_define_toolkit_at(selected problem "${root}")
    endif()
    if("ascend" IN_LIST AIVOPS_MACHINES)
        set(arg_NEED_CANN TRUE)
    endif()
    if(problem STREQUAL "" AND arg_NEED_CANN AND NOT TARGET AivOps::toolkit-ascend)
        _aivops_locate_cann(root)
        if(root STREQUAL "")
            set(problem
                "kernels for machine ascend need CANN, and none was found: set ASCEND_HOME_PATH to its root"
            )
        else()
            _aivops_define_toolkit_at(machine problem "${root}")
        endif()
    endif()
    if(problem STREQUAL "" AND NOT TARGET AivOps::toolkit)
        add_library(AivOps::toolkit INTERFACE IMPORTED GLOBAL)
        set_target_properties(AivOps::toolkit PROPERTIES AIVOPS_MACHINE "${selected}")
    endif()
    set(${error} "${problem}" PARENT_SCOPE)
endfunction()

# Says once, and again when it changes, which toolkits a build uses.
function(_aivops_report_toolkits)
    set(report "")
    foreach(machine IN ITEMS emulated-x86_64 emulated-aarch64 ascend)
        if(TARGET AivOps::toolkit-${machine})
            get_target_property(name AivOps::toolkit-${machine} AIVOPS_NAME)
            get_target_property(version AivOps::toolkit-${machine} AIVOPS_VERSION)
            get_target_property(root AivOps::toolkit-${machine} AIVOPS_ROOT)
            list(APPEND report "${name} ${version} at ${root} (machine ${machine})")
        endif()
    endforeach()
    if(NOT report STREQUAL "${_AIVOPS_REPORTED_TOOLKITS}")
        set(_AIVOPS_REPORTED_TOOLKITS "${report}" CACHE INTERNAL "Toolkits that the last configure printed")
        foreach(line IN LISTS report)
            message(STATUS "AivOps: ${line}")
        endforeach()
    endif()
endfunction()

# Machines by name; `emulated` is short for the emulated machine of this host's processor, no name for the selected
# toolkit's.
function(_aivops_resolve_machines out error names)
    _aivops_emulated_cpu(cpu)
    if(names STREQUAL "")
        get_target_property(names AivOps::toolkit AIVOPS_MACHINE)
    endif()
    set(resolved "")
    foreach(name IN LISTS names)
        if(name STREQUAL "emulated")
            set(name "emulated-${cpu}")
        endif()
        if(NOT name MATCHES "^(ascend|emulated-x86_64|emulated-aarch64)$")
            set(${error}
                "unknown machine '${name}' in AIVOPS_MACHINES. Known machines: ascend, emulated-x86_64, emulated-aarch64 (or emulated for this host's)"
                PARENT_SCOPE
            )
            return()
        elseif(NOT TARGET AivOps::toolkit-${name})
            set(${error}
                "no toolkit makes binaries for machine '${name}' of AIVOPS_MACHINES here: ascend needs CANN (set ASCEND_HOME_PATH to its root), an emulated machine needs a host of its processor (this one is ${cpu})"
                PARENT_SCOPE
            )
            return()
        endif()
        list(APPEND resolved "${name}")
    endforeach()
    list(REMOVE_DUPLICATES resolved)
    set(${out} "${resolved}" PARENT_SCOPE)
    set(${error} "" PARENT_SCOPE)
endfunction()
