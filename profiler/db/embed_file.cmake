# SPDX-License-Identifier: MIT
# The build step of memlag_embed: writes STEM.c and STEM.h from FILE.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${STEM}.h "extern const char ${NAME}[];\n")
file(WRITE ${STEM}.c
  "#include \"${NAME}.h\"\n\nconst char ${NAME}[] = {\n${bytes}\n0};\n")
