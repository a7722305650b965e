# SPDX-License-Identifier: MIT
# The Debian package: cpack -G DEB in the build directory. It depends on the libraries that
# its programs load; of Valgrind it has all that the simulated PMU needs.
set(CPACK_PACKAGE_CONTACT "The memlag authors <maintainers@memlag.example>"
  CACHE STRING "Maintainer of the Debian package")
set(CPACK_PACKAGE_NAME memlag)
set(CPACK_PACKAGE_VENDOR "The memlag authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler that shows where a program waits for memory")
set(CPACK_PACKAGE_DESCRIPTION
"memlag shows which source lines, data objects and intervals of a program wait
for memory, and whether bandwidth, latency, address translation or sharing is
the reason. It records unmodified programs with the processor's own counters
(Intel PEBS, AMD IBS), with a timer, or on a simulated processor, which needs
no access to counters, and reads recordings of perf.")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Of memlag report --format html alone.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libjs-d3, libjs-jquery, libjs-jquery-datatables")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libdebuginfod1t64 | libdebuginfod1")

# What Debian's policy asks of a package and other installations do not have.
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${CMAKE_BINARY_DIR}/package/changelog.Debian @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
set(CPACK_MEMLAG_PACKAGE_FILES ${CMAKE_CURRENT_LIST_DIR})
set(CPACK_MEMLAG_STRIP ${CMAKE_STRIP})
set(CPACK_MEMLAG_CHANGELOG ${CMAKE_BINARY_DIR}/package/changelog.Debian)
include(CPack)
