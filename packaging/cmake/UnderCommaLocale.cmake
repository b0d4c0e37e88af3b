# SPDX-License-Identifier: Apache-2.0
# Runs the test binary PROGRAM under a locale that writes decimal commas, made in FOLDER: see
# weft_tests() in WeftBuild.cmake.
set(locale de_DE.UTF-8)
file(MAKE_DIRECTORY ${FOLDER})
find_program(LOCALEDEF localedef)
if(LOCALEDEF)
    execute_process(COMMAND ${LOCALEDEF} -i de_DE -f UTF-8 ${FOLDER}/${locale} RESULT_VARIABLE failed)
endif()
if(NOT LOCALEDEF OR failed)
    message("SKIPPED: no German locale can be made here: localedef or its sources are missing")
    return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env LOCPATH=${FOLDER} WEFT_TEST_LOCALE=${locale}
    ${PROGRAM} -nocrashhandler COMMAND_ERROR_IS_FATAL ANY)
