# SPDX-License-Identifier: MIT
# Run by cpack before it packs CPACK_TEMPORARY_INSTALL_DIRECTORY: Debian's places for files,
# and compressed pages.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(doc ${share}/doc/memlag)
file(COPY_FILE ${CPACK_MEMLAG_PACKAGE_FILES}/copyright ${doc}/copyright)
file(REMOVE ${doc}/LICENSE)
file(COPY_FILE ${CPACK_MEMLAG_CHANGELOG} ${doc}/changelog.Debian)
file(RENAME ${doc}/changelog.md ${doc}/changelog)
file(MAKE_DIRECTORY ${share}/lintian/overrides)
file(COPY_FILE ${CPACK_MEMLAG_PACKAGE_FILES}/lintian-overrides ${share}/lintian/overrides/memlag)
file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
file(GLOB pages ${share}/man/man1/*.1)
execute_process(COMMAND gzip -9n ${pages} ${doc}/changelog ${doc}/changelog.Debian
  COMMAND_ERROR_IS_FATAL ANY)
# CPack strips our own programs; this library of Valgrind's may come with symbols.
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CPACK_MEMLAG_STRIP} --strip-unneeded
  ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/libexec/memlag/valgrind/vgpreload_core-amd64-linux.so)
# Whatever the umask is.
execute_process(COMMAND chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_INSTALL_DIRECTORY}
  COMMAND_ERROR_IS_FATAL ANY)
