# The manifest of one set of kernels: the records that verification wrote, merged, with the path of each binary.

function(_aivops_add_manifest out destination)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "TARGETS;RECORDS;ENTRIES")
    get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    set(config "")
    if(multi_config)
        set(config "/$<CONFIG>")
    endif()
    string(MAKE_C_IDENTIFIER "${destination}" id)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/kernels${config}/${id}")
    set(manifest "${folder}/manifest.json")
    _aivops_tool_command(verify AivOps::verify)
    _aivops_record_command("${folder}/manifest.txt" ${arg_ENTRIES})
    add_custom_command(
        OUTPUT "${manifest}"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
        COMMAND ${verify} --write-manifest "${manifest}" ${arg_ENTRIES}
        DEPENDS
            ${arg_TARGETS}
            ${arg_RECORDS}
            "${folder}/manifest.txt"
            AivOps::verify
            "$<TARGET_FILE:AivOps::verify>"
        COMMENT "Writing the manifest of ${destination}"
        VERBATIM
    )
    add_custom_target(aivops_manifest_${id} ALL DEPENDS "${manifest}")
    set(${out} "${manifest}" PARENT_SCOPE)
endfunction()
