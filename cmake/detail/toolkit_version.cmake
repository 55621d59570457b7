# Reads the version of a CANN installation from the files its releases have carried, the most exact one first.

# `out` is the full text (9.0.0-beta.2, 8.1.RC1), empty when no file tells. `number` is its leading dotted number, for
# VERSION comparisons: CMake would stop inside forms such as RC1.
function(_aivops_read_cann_version out number root cpu)
    file(GLOB package_files LIST_DIRECTORIES FALSE "${root}/share/info/*/version.info")
    set(files
        "${root}/${cpu}-linux/include/version/asc_devkit_version.h"
        "${root}/share/info/asc-devkit/version.info"
        "${root}/share/info/toolkit/version.info"
        ${package_files}
        "${root}/compiler/version.info"
        "${root}/opp/version.info"
        "${root}/${cpu}-linux/ascend_toolkit_install.info"
    )
    set(version "")
    foreach(file IN LISTS files)
        if(EXISTS "${file}")
            file(READ "${file}" text)
            string(REGEX MATCH "VERSION_STR[A-Z]*[ \t]+\"([0-9][^\"]*)\"" macro "${text}")
            if(macro STREQUAL "")
                string(REGEX MATCH "[Vv]ersion[ \t]*=[ \t]*\"?([0-9][^\r\n\" ]*)" line "${text}")
            endif()
            if(NOT "${CMAKE_MATCH_1}" STREQUAL "")
                set(version "${CMAKE_MATCH_1}")
                break()
            endif()
        endif()
    endforeach()
    string(REGEX MATCH "^[0-9]+(\\.[0-9]+)*" leading "${version}")
    set(${out} "${version}" PARENT_SCOPE)
    set(${number} "${leading}" PARENT_SCOPE)
endfunction()
