# aivops_add_kernels (since 0.1.0)
# ------------------
#
#   aivops_add_kernels(<target>
#       SOURCES <file>...
#       [ARCHITECTURES <architecture or chip>...]
#       [KERNELS <entry name or glob>...]
#       [LINK_LIBRARIES <target>...]
#       [INCLUDE_DIRECTORIES <dir>...]
#       [COMPILE_DEFINITIONS <definition>...]
#       [COMPILE_OPTIONS <option>...]
#       [OUTPUT_NAME <name>]
#       [STACK_SIZE <bytes>]
#       [AUTO_SYNC ON|OFF] [RECORD_OVERFLOW ON|OFF] [DEBUG ON|OFF]
#       [NO_LAYOUT])
#
# Makes one verified kernel binary per machine (AIVOPS_MACHINES) and architecture from Ascend C sources. Sources are
# compiled apart and linked together. <target> is part of `all`.
#
# SOURCES               Ascend C files, relative to the current source directory.
# ARCHITECTURES         dav-c220-vec, dav-c310-vec, their --npu-arch spellings, or chip names such as Ascend910B1.
#                       Default: AIVOPS_ARCHITECTURES.
# KERNELS               The entries the binaries have to have, and no others. A glob (aiv_copy_*) has to match at least
#                       one. Default: any, at least one.
# LINK_LIBRARIES        Targets whose include directories, definitions and options the compiles take. AivOps::device is
#                       always among them.
# OUTPUT_NAME           Name of the binaries without `.o`. Default: <target>.
# STACK_SIZE            Scalar stack of a kernel. Default: 32768, the most that the runtime grants by default.
# AUTO_SYNC             Let the compiler insert synchronisation between pipes. Default: OFF; it can hide missing ones.
# RECORD_OVERFLOW       Record arithmetic overflow in the status register. Default: OFF.
# DEBUG                 -O0 -g instead of -O2. Default: OFF.
# NO_LAYOUT             Do without argument layouts in binaries for NPUs, for sources that the emulated toolkit cannot
#                       compile; launches of these kernels take bytes or a structure only.
#
# Results: the target's properties AIVOPS_BINARIES (files), AIVOPS_RECORDS (their manifest entries) and
# AIVOPS_INSTALL_PATHS (where each belongs below an install destination), three lists in one order. Where the project
# has C++, also <target>-editor, an object target outside `all` that gives editors a compile command for the sources.
function(aivops_add_kernels target)
    list(APPEND CMAKE_MESSAGE_CONTEXT aivops_add_kernels)
    set(one_value
        OUTPUT_NAME
        STACK_SIZE
        AUTO_SYNC
        RECORD_OVERFLOW
        DEBUG
    )
    set(many_values
        SOURCES
        ARCHITECTURES
        KERNELS
        LINK_LIBRARIES
        INCLUDE_DIRECTORIES
        COMPILE_DEFINITIONS
        COMPILE_OPTIONS
    )
    cmake_parse_arguments(PARSE_ARGV 1 arg NO_LAYOUT "${one_value}" "${many_values}")
    set(subject "aivops_add_kernels(${target})")
    set(keywords ${many_values} ${one_value} NO_LAYOUT)
    _aivops_check_arguments(
        "${subject}"
        "${arg_UNPARSED_ARGUMENTS}"
        "${arg_KEYWORDS_MISSING_VALUES}"
        "${keywords}"
    )
    set(values
        ${arg_SOURCES}
        ${arg_ARCHITECTURES}
        ${arg_KERNELS}
        ${arg_LINK_LIBRARIES}
        ${arg_INCLUDE_DIRECTORIES}
    )
    _aivops_refuse_mistyped("${subject}" "${values}" "${keywords}")
    if(NOT TARGET AivOps::verify)
        message(
            FATAL_ERROR
            "${subject}: AivOps is not found here: call find_package(AivOps REQUIRED) in this directory or above"
        )
    endif()
    if(TARGET ${target})
        message(FATAL_ERROR "${subject}: a target of this name exists already: choose another name")
    endif()
    _aivops_set_default(arg_OUTPUT_NAME "${target}")
    foreach(name IN ITEMS "${target}" "${arg_OUTPUT_NAME}")
        if(NOT name MATCHES "^[A-Za-z0-9_.+-]+$")
            message(
                FATAL_ERROR
                "${subject}: the name '${name}' has to consist of letters, digits and _ . + -"
            )
        endif()
    endforeach()
    get_property(names DIRECTORY PROPERTY AIVOPS_OUTPUT_NAMES)
    if(arg_OUTPUT_NAME IN_LIST names)
        message(
            FATAL_ERROR
            "${subject}: another target makes ${arg_OUTPUT_NAME}.o in this directory: choose another OUTPUT_NAME"
        )
    endif()
    set_property(DIRECTORY APPEND PROPERTY AIVOPS_OUTPUT_NAMES "${arg_OUTPUT_NAME}")
    _aivops_set_default(arg_STACK_SIZE 32768)
    foreach(option IN ITEMS AUTO_SYNC RECORD_OVERFLOW DEBUG)
        _aivops_set_default(arg_${option} OFF)
        _aivops_require_boolean("${subject}" ${option} "${arg_${option}}")
    endforeach()
    if(NOT arg_STACK_SIZE MATCHES "^[0-9]+$")
        message(FATAL_ERROR "${subject}: STACK_SIZE is '${arg_STACK_SIZE}'; expected a number of bytes")
    endif()
    _aivops_set_default(arg_ARCHITECTURES "${AIVOPS_ARCHITECTURES}")
    _aivops_resolve_architectures(architectures problem "${arg_ARCHITECTURES}")
    if(problem STREQUAL "")
        _aivops_resolve_machines(machines problem "${AIVOPS_MACHINES}")
    endif()
    if(problem STREQUAL "" AND architectures STREQUAL "")
        set(problem "no architecture: set ARCHITECTURES or AIVOPS_ARCHITECTURES")
    endif()
    if(NOT problem STREQUAL "")
        message(FATAL_ERROR "${subject}: ${problem}")
    endif()
    _aivops_resolve_sources(sources "${subject}" ${arg_SOURCES})

    add_library(${target}-usage INTERFACE)
    target_link_libraries(${target}-usage INTERFACE AivOps::device ${arg_LINK_LIBRARIES})
    target_include_directories(${target}-usage INTERFACE ${arg_INCLUDE_DIRECTORIES})
    target_compile_definitions(${target}-usage INTERFACE ${arg_COMPILE_DEFINITIONS})
    set_property(TARGET ${target}-usage PROPERTY AIVOPS_COMPILE_OPTIONS "${arg_COMPILE_OPTIONS}")
    foreach(architecture IN LISTS architectures)
        _aivops_architecture_flags(
            flags
            ${architecture}
            AUTO_SYNC ${arg_AUTO_SYNC}
            RECORD_OVERFLOW ${arg_RECORD_OVERFLOW}
            DEBUG ${arg_DEBUG}
            STACK_SIZE ${arg_STACK_SIZE}
        )
        set_property(TARGET ${target}-usage PROPERTY AIVOPS_FLAGS_${architecture} "${flags}")
    endforeach()

    set(binaries "")
    set(paths "")
    foreach(architecture IN LISTS architectures)
        _aivops_add_binaries(
            ${target}
            ${architecture}
            BINARIES binaries
            PATHS paths
            NO_LAYOUT ${arg_NO_LAYOUT}
            OUTPUT_NAME "${arg_OUTPUT_NAME}"
            MACHINES ${machines}
            SOURCES ${sources}
            KERNELS ${arg_KERNELS}
        )
    endforeach()
    list(TRANSFORM binaries APPEND .json OUTPUT_VARIABLE records)
    add_custom_target(${target} ALL DEPENDS ${binaries} ${records})
    set_target_properties(
        ${target}
        PROPERTIES AIVOPS_BINARIES "${binaries}" AIVOPS_RECORDS "${records}" AIVOPS_INSTALL_PATHS "${paths}"
    )
    list(GET architectures 0 first_architecture)
    _aivops_add_editor_target(${target} ${first_architecture} ${sources})
endfunction()
