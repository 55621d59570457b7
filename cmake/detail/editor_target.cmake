# The object target that gives editors a compile command for Ascend C sources. It compiles them with the host compiler
# against the emulated toolkit's headers, and is never part of `all`.

function(_aivops_add_editor_target target)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    _aivops_host_cpu(cpu)
    set(toolkit AivOps::toolkit-emulated-${cpu})
    if(NOT "CXX" IN_LIST languages OR NOT TARGET ${toolkit})
        return()
    endif()
    add_library(${target}-editor OBJECT EXCLUDE_FROM_ALL ${ARGN})
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)
    target_link_libraries(${target}-editor PRIVATE ${target}-usage ${toolkit})
    target_compile_features(${target}-editor PRIVATE cxx_std_17)
endfunction()
