# Asks an installed kernel compiler what it can do, once per compiler file and flags: version numbers of toolkits do not
# tell (a release may know an architecture's name and not compile for it).

# Compiles an empty source with the flags. `output` is empty when that works and leaves a dependency file, else what the
# compiler said.
function(_aivops_probe_compiler output compiler)
    file(TIMESTAMP "${compiler}" changed "%s")
    string(SHA256 key "${compiler} ${changed} ${ARGN}")
    string(SUBSTRING "${key}" 0 16 key)
    if(NOT DEFINED _AIVOPS_PROBE_${key})
        set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/aivops_probe/${key}")
        file(WRITE "${folder}/empty.asc" "")
        execute_process(
            COMMAND
                "${compiler}" -c -x cce ${ARGN} "${folder}/empty.asc" -o "${folder}/empty.o" -MD -MT
                "${folder}/empty.o" -MF "${folder}/empty.d"
            RESULT_VARIABLE status
            OUTPUT_VARIABLE text
            ERROR_VARIABLE text
        )
        set(said "")
        if(NOT status EQUAL 0)
            string(STRIP "exit status ${status}: ${text}" said)
        elseif(NOT EXISTS "${folder}/empty.d")
            set(said "no dependency file from -MD -MT -MF")
        endif()
        set(_AIVOPS_PROBE_${key} "${said}" CACHE INTERNAL "What ${compiler} says to ${ARGN}")
    endif()
    set(${output} "${_AIVOPS_PROBE_${key}}" PARENT_SCOPE)
endfunction()
