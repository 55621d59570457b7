# aivops_add_filter_library(<target> FOR <library> FUNCTIONS <regex> HEADERS <header>...)
#
# A library of the emulated toolkit that has the names of <library> and no code: the dynamic linker takes each function
# from <library>, so there is one state however many of the two a program links or opens. FUNCTIONS matches the names
# that the headers declare; functions defined in a header are left out.
function(aivops_add_filter_library target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOR;FUNCTIONS" "HEADERS")
    set(labels "")
    foreach(header IN LISTS arg_HEADERS)
        file(READ "${header}" text)
        string(REGEX REPLACE "static inline [^(]*" "" text "${text}")
        string(REGEX MATCHALL "[ *]${arg_FUNCTIONS}\\(" declarations "${text}")
        list(APPEND labels ${declarations})
    endforeach()
    list(TRANSFORM labels REPLACE "[ *(]" "")
    list(REMOVE_DUPLICATES labels)
    list(TRANSFORM labels REPLACE "(.+)" ".globl \\1\n.type \\1, %function\n\\1:\n")
    list(JOIN labels "" labels)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}.c")
    file(
        CONFIGURE
        OUTPUT "${source}"
        CONTENT
            "// Every function of another library, for linkers; the code is there.\n__asm__(R\"(.text\n@labels@.byte 0\n.section .note.GNU-stack,\"\",%progbits\n)\");\n"
        @ONLY
    )
    add_library(${target} SHARED "${source}")
    set_target_properties(
        ${target}
        PROPERTIES
            C_STANDARD 11
            C_EXTENSIONS ON
            LIBRARY_OUTPUT_DIRECTORY "${AIVOPS_TOOLKIT_LIBRARIES}"
            INSTALL_RPATH "$ORIGIN"
            BUILD_WITH_INSTALL_RPATH ON
    )
    target_link_options(${target} PRIVATE "-Wl,--filter,$<TARGET_FILE_NAME:${arg_FOR}>")
    add_dependencies(${target} ${arg_FOR})
endfunction()
