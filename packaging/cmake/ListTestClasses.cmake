# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a file for ctest with a test for each class of PROGRAM: see weft_tests() in
# WeftBuild.cmake.
execute_process(COMMAND ${PROGRAM} -classes OUTPUT_VARIABLE classes COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" classes "${classes}")
math(EXPR whole_s "2 * ${LIMIT_S}")
set(text "")
foreach(class IN LISTS classes)
    # Qt Test names the function that hangs when its own limit comes first; its crash handler would wait
    # for a debugger.
    string(APPEND text "add_test(${NAME}.${class} \"${PROGRAM}\" ${class} -nocrashhandler)\n"
        "set_tests_properties(${NAME}.${class} PROPERTIES LABELS \"${LABELS}\" TIMEOUT ${whole_s} "
        "ENVIRONMENT QTEST_FUNCTION_TIMEOUT=${LIMIT_S}000)\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
