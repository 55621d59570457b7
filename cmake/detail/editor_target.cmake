# The object target that gives editors a compile command for Ascend C sources: the host compiler, the emulated toolkit's
# headers, and the macros of the first architecture. It is never part of `all`.

function(_aivops_add_editor_target target architecture)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    _aivops_emulated_cpu(cpu)
    set(toolkit AivOps::toolkit-emulated-${cpu})
    if(NOT "CXX" IN_LIST languages OR NOT TARGET ${toolkit})
        return()
    endif()
    add_library(${target}-editor OBJECT EXCLUDE_FROM_ALL ${ARGN})
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)
    target_link_libraries(${target}-editor PRIVATE ${target}-usage ${toolkit})
    target_compile_features(${target}-editor PRIVATE cxx_std_17)
    # What ccec predefines.
    set(macros_dav-c220-vec __NPU_ARCH__=2201 __CCE_AICORE__=220 __DAV_C220__=1 __DAV_C220_VEC__=1)
    set(macros_dav-c310-vec __NPU_ARCH__=3510 __CCE_AICORE__=310 __DAV_C310__=1 __DAV_C310_VEC__=1)
    target_compile_definitions(
        ${target}-editor
        PRIVATE
            AIVOPS_EMULATOR=1
            __global__=
            __aicore__=
            __gm__=
            __ubuf__=
            __vector__=
            ${macros_${architecture}}
    )
endfunction()
