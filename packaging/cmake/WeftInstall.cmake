# SPDX-License-Identifier: Apache-2.0
# What is installed where, and the Debian package.
include(GNUInstallDirs)

set(WEFT_ID io.github.weft_studio.WeftStudio)

install(TARGETS weft COMPONENT engine)
# Beside the program, which loads it when a run names GPUs. Its NVIDIA libraries are nobody's dependency:
# without them the program says which one to install.
if(TARGET weft-backend-cuda)
    install(TARGETS weft-backend-cuda DESTINATION lib/weft COMPONENT engine)
endif()
foreach(transport mpi gloo)
    if(TARGET weft-transport-${transport})
        install(TARGETS weft-transport-${transport} DESTINATION lib/weft COMPONENT engine)
    endif()
endforeach()
install(FILES packaging/systemd/weft-queue.service DESTINATION lib/systemd/user COMPONENT engine)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/resources/presets DESTINATION ${CMAKE_INSTALL_DATADIR}/weft
    COMPONENT engine FILES_MATCHING PATTERN "*.json")
# The manual page is the option table of the program, as it was built.
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/weft.1.gz
    COMMAND sh -c "$<TARGET_FILE:weft> help man | gzip -9n > weft.1.gz"
    DEPENDS weft WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
add_custom_target(weft_man ALL DEPENDS ${CMAKE_BINARY_DIR}/weft.1.gz)
install(FILES ${CMAKE_BINARY_DIR}/weft.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    COMPONENT engine)
# So are those of the reference.
set(reference_topics config events commands plan run-folder errors logging)
foreach(topic IN LISTS reference_topics)
    set(page ${CMAKE_BINARY_DIR}/weft-${topic}.5.gz)
    add_custom_command(OUTPUT ${page}
        COMMAND sh -c "$<TARGET_FILE:weft> help ${topic} --man | gzip -9n > ${page}"
        DEPENDS weft VERBATIM)
    list(APPEND reference_pages ${page})
endforeach()
add_custom_target(weft_reference ALL DEPENDS ${reference_pages})
install(FILES ${reference_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 COMPONENT engine)
install(FILES LICENSE LICENSES/Apache-2.0.txt LICENSES/GPL-3.0-or-later.txt
    DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT engine)
# Where Debian's Python looks, whatever the architecture.
install(DIRECTORY packaging/python/weft_reader DESTINATION lib/python3/dist-packages
    COMPONENT engine FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)

if(WEFT_UI)
    install(TARGETS weft-studio COMPONENT studio)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/weft-studio.1.gz
        COMMAND sh -c "gzip -9nc ${CMAKE_SOURCE_DIR}/packaging/man/weft-studio.1 > weft-studio.1.gz"
        DEPENDS ${CMAKE_SOURCE_DIR}/packaging/man/weft-studio.1
        WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
    add_custom_target(weft_studio_man ALL DEPENDS ${CMAKE_BINARY_DIR}/weft-studio.1.gz)
    install(FILES ${CMAKE_BINARY_DIR}/weft-studio.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        COMPONENT studio)
    install(FILES packaging/desktop/${WEFT_ID}.desktop
        DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT studio)
    install(FILES packaging/desktop/${WEFT_ID}.metainfo.xml
        DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo COMPONENT studio)
    install(FILES packaging/desktop/${WEFT_ID}.mime.xml RENAME ${WEFT_ID}.xml
        DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages COMPONENT studio)
    set(icons ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable)
    install(FILES resources/icons/weft.svg RENAME ${WEFT_ID}.svg
        DESTINATION ${icons}/apps COMPONENT studio)
    foreach(type application-vnd.weft.run+json application-vnd.weft.checkpoint)
        install(FILES resources/icons/weft.svg RENAME ${type}.svg
            DESTINATION ${icons}/mimetypes COMPONENT studio)
    endforeach()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft-studio)
set(CPACK_PACKAGE_VENDOR "Weft Studio")
set(CPACK_PACKAGE_CONTACT "The Weft Studio authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Trains neural networks and shows beforehand what each device will hold")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter, fonts-jetbrains-mono, qt6-wayland")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "dataset-fashion-mnist, openmpi-bin, python3-numpy")
if(TARGET weft-backend-cuda)
    string(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS
        ", libcublas-13-0, libcudnn9-cuda-13, libnccl2, cuda-nvrtc-13-0")
    # Where the packer finds them, to see that no package of this system has them.
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CUDAToolkit_LIBRARY_DIR})
endif()
include(CPack)
