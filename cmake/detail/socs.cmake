# Reads the table of chips and architectures that C++ includes too: socs.def, in the source tree or the installed package.

function(_aivops_soc_table out)
    foreach(folder IN ITEMS host/cann/include include/host)
        foreach(
            root
            IN
            ITEMS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../.." "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../.."
        )
            if(EXISTS "${root}/${folder}/aivops/socs.def")
                file(STRINGS "${root}/${folder}/aivops/socs.def" rows REGEX "^AIVOPS_(ARCHITECTURE|SOC)\\(")
                set(${out} "${rows}" PARENT_SCOPE)
                return()
            endif()
        endforeach()
    endforeach()
    message(FATAL_ERROR "AivOps: the table of chips (aivops/socs.def) is missing: install AivOps again")
endfunction()

# Architectures by the names that compilers and people use: dav-c220-vec, dav-2201, or a chip such as Ascend910B1.
# Names are exact, since Ascend910B and Ascend910B1 are different generations. `error` is empty when all are known.
function(_aivops_resolve_architectures out error names)
    _aivops_soc_table(rows)
    foreach(row IN LISTS rows)
        if(row MATCHES "^AIVOPS_ARCHITECTURE\\(\"([^\"]+)\", \"([^\"]+)\", ([0-9]+)\\)")
            set(architecture_of_${CMAKE_MATCH_1} "${CMAKE_MATCH_1}")
            set(architecture_of_${CMAKE_MATCH_2} "${CMAKE_MATCH_1}")
            set(architecture_of_${CMAKE_MATCH_3} "${CMAKE_MATCH_1}")
            string(APPEND known_architectures " ${CMAKE_MATCH_1} (${CMAKE_MATCH_2})")
        elseif(row MATCHES "^AIVOPS_SOC\\(\"([^\"]+)\", \"[^\"]+\", ([0-9]+),")
            set(architecture_of_${CMAKE_MATCH_1} "${architecture_of_${CMAKE_MATCH_2}}")
            string(APPEND known_socs " ${CMAKE_MATCH_1}")
        endif()
    endforeach()

    set(resolved "")
    foreach(name IN LISTS names)
        if(NOT DEFINED architecture_of_${name})
            set(${error}
                "unknown architecture '${name}'. Known architectures:${known_architectures}. Known chips:${known_socs}"
                PARENT_SCOPE
            )
            return()
        endif()
        list(APPEND resolved "${architecture_of_${name}}")
    endforeach()
    list(REMOVE_DUPLICATES resolved)
    set(${out} "${resolved}" PARENT_SCOPE)
    set(${error} "" PARENT_SCOPE)
endfunction()
