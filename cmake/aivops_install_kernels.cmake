# aivops_install_kernels (since 0.1.0)
# ----------------------
#
#   aivops_install_kernels(<target>... DESTINATION <dir> [COMPONENT <name>])
#
# Installs the binaries of targets that aivops_add_kernels() made, as <dir>/<machine>/<architecture>/<name>.o, and the
# <dir>/manifest.json that loaders read. A destination takes one set: name all its targets in one call.
function(aivops_install_kernels)
    list(APPEND CMAKE_MESSAGE_CONTEXT aivops_install_kernels)
    set(keywords DESTINATION COMPONENT)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "${keywords}" "")
    list(JOIN arg_UNPARSED_ARGUMENTS " " shown)
    set(subject "aivops_install_kernels(${shown})")
    _aivops_check_arguments("${subject}" "" "${arg_KEYWORDS_MISSING_VALUES}" "${keywords}")
    _aivops_refuse_mistyped("${subject}" "${arg_UNPARSED_ARGUMENTS}" "${keywords}")
    set(targets ${arg_UNPARSED_ARGUMENTS})
    if("${targets}" STREQUAL "")
        message(FATAL_ERROR "${subject}: no target: name what aivops_add_kernels() made")
    endif()
    if(NOT DEFINED arg_DESTINATION)
        message(FATAL_ERROR "${subject}: no DESTINATION: name the folder, relative to the install prefix")
    endif()
    cmake_path(NORMAL_PATH arg_DESTINATION)
    string(REGEX REPLACE "/$" "" arg_DESTINATION "${arg_DESTINATION}")
    get_property(taken GLOBAL PROPERTY AIVOPS_DESTINATIONS)
    if(arg_DESTINATION IN_LIST taken)
        message(
            FATAL_ERROR
            "${subject}: another set of kernels goes to ${arg_DESTINATION} already: name all targets in one call, or choose another DESTINATION"
        )
    endif()
    set_property(GLOBAL APPEND PROPERTY AIVOPS_DESTINATIONS "${arg_DESTINATION}")

    set(component "")
    if(DEFINED arg_COMPONENT)
        set(component COMPONENT "${arg_COMPONENT}")
    endif()

    set(records "")
    set(entries "")
    set(installed "")
    foreach(target IN LISTS targets)
        if(NOT TARGET ${target})
            message(
                FATAL_ERROR
                "${subject}: there is no target ${target}: call aivops_add_kernels(${target} …) first"
            )
        endif()
        get_target_property(paths ${target} AIVOPS_INSTALL_PATHS)
        if(NOT paths)
            message(FATAL_ERROR "${subject}: ${target} has no kernels: name what aivops_add_kernels() made")
        endif()
        get_target_property(binaries ${target} AIVOPS_BINARIES)
        get_target_property(target_records ${target} AIVOPS_RECORDS)
        list(APPEND records ${target_records})
        foreach(binary record path IN ZIP_LISTS binaries target_records paths)
            if(path IN_LIST installed)
                message(
                    FATAL_ERROR
                    "${subject}: two targets install ${path}: give one of them another OUTPUT_NAME"
                )
            endif()
            list(APPEND installed "${path}")
            list(APPEND entries "${record}=${path}")
            cmake_path(GET path PARENT_PATH folder)
            install(FILES "${binary}" DESTINATION "${arg_DESTINATION}/${folder}" ${component})
        endforeach()
    endforeach()

    _aivops_add_manifest(
        manifest
        "${arg_DESTINATION}"
        TARGETS ${targets}
        RECORDS ${records}
        ENTRIES ${entries}
    )
    install(FILES "${manifest}" DESTINATION "${arg_DESTINATION}" ${component})
endfunction()
