# Everything the package defines. Including it defines functions and does nothing else: the functions keep the policies that are set
# here, and the caller's stay as they are.

cmake_policy(VERSION 3.25...4.4)

include("${CMAKE_CURRENT_LIST_DIR}/detail/architecture_flags.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/keywords.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/binary.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/editor_target.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/manifest.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/probe_compiler.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/select_toolkits.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/socs.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/toolkit.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/toolkit_version.cmake")

include("${CMAKE_CURRENT_LIST_DIR}/aivops_add_kernels.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/aivops_install_kernels.cmake")
