# SPDX-License-Identifier: MIT
# The symbols of Valgrind beyond its tool interface that the simulated PMU uses, and
# whether a Valgrind has them. Each file in this directory and below it opens with the
# same versions.
set(simpmu_valgrind_tried "3.19.0, 3.24.0 and 3.27.1")

# The linker puts functions of ours in their place (--wrap): an object file must refer to
# them and another one define them.
set(simpmu_wrapped_symbols
  LibVEX_Translate
  amd64g_dirtyhelper_RDTSCP
  sanityCheckIRSB
  vgModuleLocal_generic_PRE_sys_mmap
  vgModuleLocal_get_linux_syscall_entry
  vgModuleLocal_read_debuginfo_dwarf3
  vgPlain_am_extend_into_adjacent_reservation_client
  vgPlain_am_notify_mprotect
  vgPlain_assert_fail
  vgPlain_core_panic
  vgPlain_core_panic_at
  vgPlain_di_notify_mmap
  vgPlain_do_sys_sigaction
  vgPlain_do_syscall
  vgPlain_machine_get_VexArchInfo
  vgPlain_mkstemp
  vgPlain_sigstartup_actions
  vgPlain_sigtimedwait_zero
  vgPlain_unlink
  vgSysWrap_generic_sys_brk_before
  vgSysWrap_generic_sys_execve_before
  vgSysWrap_generic_sys_getrlimit_before
  vgSysWrap_generic_sys_mremap_before
  vgSysWrap_generic_sys_setrlimit_before
  vgSysWrap_linux_sys_execveat_before
  vgSysWrap_linux_sys_prctl_before
  vgSysWrap_linux_sys_prlimit64_before)

# Declared in this directory, not in Valgrind's headers for tools.
set(simpmu_private_symbols
  vgPlain_acquire_BigLock
  vgPlain_am_addr_is_in_extensible_client_stack
  vgPlain_am_mmap_anon_float_client
  vgPlain_am_shared_mmap_file_float_valgrind
  vgPlain_args_for_valgrind
  vgPlain_brk_limit
  vgPlain_cl_auxv_fd
  vgPlain_cl_exec_fd
  vgPlain_client_rlimit_stack
  vgPlain_clo_trace_children
  vgPlain_discard_translations
  vgPlain_fd_hard_limit
  vgPlain_fd_soft_limit
  vgPlain_is_exiting
  vgPlain_mk_SysRes_Error
  vgPlain_mk_SysRes_Success
  vgPlain_name_of_launcher
  vgPlain_release_BigLock
  vgPlain_safe_fd)

# Ends the configuration if ARCHIVES of Valgrind VERSION lack one of the symbols.
function(simpmu_check_symbols version archives)
  execute_process(COMMAND ${CMAKE_NM} ${archives} OUTPUT_VARIABLE symbols ERROR_QUIET
    COMMAND_ERROR_IS_FATAL ANY)
  foreach(symbol ${simpmu_wrapped_symbols} ${simpmu_private_symbols})
    if(NOT symbols MATCHES " [TDBRC] ${symbol}\n")
      set(missing ${symbol})
    endif()
  endforeach()
  foreach(symbol ${simpmu_wrapped_symbols})
    if(NOT symbols MATCHES " U ${symbol}\n")
      set(missing ${symbol})
    endif()
  endforeach()
  if(missing)
    # The space keeps CMake from breaking the line.
    message(FATAL_ERROR " Valgrind ${version} does not have ${missing} as the simulated PMU needs it; known to work: Valgrind ${simpmu_valgrind_tried}")
  endif()
endfunction()
