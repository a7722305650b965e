/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine reads every module's DWARF line numbers for messages of its own, and gives
 * the whole process up over forms that it does not know (DWARF 5 of clang 14, split and
 * type units in 3.19). memlag has no use for them: names are found afterwards, by another
 * program. So the engine's reader is replaced by one that reads nothing; it keeps call
 * frame information, which stacks are unwound by, and symbols.
 *
 * The linker puts this in the place of the engine's function: see CMakeLists.txt. */

/* As the engine calls it: the module, and where the sections are. Neither is looked at. */
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void *module, ...);

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void *module, ...)
{
        (void)module;
}
