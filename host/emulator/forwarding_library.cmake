# aivops_add_forwarding_library(<target> FOR <library> FUNCTIONS <regex> HEADERS <header>...)
#
# A library of the emulated toolkit that has the names of <library> and none of its state: each function jumps to
# <library>, which gets a second name per function to be reached by. So programs may link or open either or both.
# FUNCTIONS matches the names that the headers declare; functions defined in a header are left out.
#
# An ELF filter would need no code, but what glibc opens through one it cannot unwind: every exception inside ends the
# process.
function(aivops_add_forwarding_library target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOR;FUNCTIONS" "HEADERS")
    set(names "")
    foreach(header IN LISTS arg_HEADERS)
        file(READ "${header}" text)
        string(REGEX REPLACE "static inline [^(]*" "" text "${text}")
        string(REGEX MATCHALL "[ *]${arg_FUNCTIONS}\\(" declarations "${text}")
        list(APPEND names ${declarations})
    endforeach()
    list(TRANSFORM names REPLACE "[ *(]" "")
    list(REMOVE_DUPLICATES names)
    foreach(side IN ITEMS near far)
        list(TRANSFORM names REPLACE "(.+)" "FORWARD_${side}(\\1)\n" OUTPUT_VARIABLE forwards)
        list(JOIN forwards "" forwards)
        file(
            CONFIGURE
            OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${target}_${side}.c"
            CONTENT "#include \"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/forward.h\"\n@forwards@"
            @ONLY
        )
    endforeach()
    target_sources(${arg_FOR} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${target}_far.c")
    add_library(${target} SHARED "${CMAKE_CURRENT_BINARY_DIR}/${target}_near.c")
    target_link_libraries(${target} PRIVATE ${arg_FOR})
    target_link_options(${target} PRIVATE -Wl,--no-as-needed)
    set_target_properties(
        ${target}
        PROPERTIES
            LIBRARY_OUTPUT_DIRECTORY "${AIVOPS_TOOLKIT_LIBRARIES}"
            INSTALL_RPATH "$ORIGIN"
            BUILD_WITH_INSTALL_RPATH ON
    )
endfunction()
