# SPDX-License-Identifier: Apache-2.0
# The words of the studio in other languages. The target `lupdate` writes every word of the sources to
# weft-studio.ts in the build folder, to begin a language with, and brings the languages that there are
# up to date: resources/translations/weft-studio_<language>.ts, which the build turns into .qm files.
set(WEFT_TRANSLATIONS ${CMAKE_BINARY_DIR}/translations)
find_program(WEFT_LUPDATE lupdate NO_DEFAULT_PATH
    HINTS ${QT6_INSTALL_PREFIX}/${QT6_INSTALL_BINS} /usr/lib/qt6/bin)
find_program(WEFT_LRELEASE lrelease NO_DEFAULT_PATH
    HINTS ${QT6_INSTALL_PREFIX}/${QT6_INSTALL_BINS} /usr/lib/qt6/bin)
if(NOT WEFT_LUPDATE OR NOT WEFT_LRELEASE)
    message(STATUS "No lupdate or lrelease of Qt 6 (qt6-l10n-tools): no target lupdate, English only")
    return()
endif()
file(GLOB languages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/resources/translations/weft-studio_*.ts)
add_custom_target(lupdate VERBATIM WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMAND ${WEFT_LUPDATE} -silent -no-obsolete -locations relative -I . ui widgets app
        -ts ${CMAKE_BINARY_DIR}/weft-studio.ts ${languages})
set(compiled)
foreach(language IN LISTS languages)
    get_filename_component(name ${language} NAME_WE)
    add_custom_command(OUTPUT ${WEFT_TRANSLATIONS}/${name}.qm DEPENDS ${language} VERBATIM
        COMMAND ${CMAKE_COMMAND} -E make_directory ${WEFT_TRANSLATIONS}
        COMMAND ${WEFT_LRELEASE} -silent ${language} -qm ${WEFT_TRANSLATIONS}/${name}.qm)
    list(APPEND compiled ${WEFT_TRANSLATIONS}/${name}.qm)
endforeach()
if(compiled)
    add_custom_target(translations ALL DEPENDS ${compiled})
    install(FILES ${compiled} DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/translations COMPONENT studio)
endif()
