# SPDX-License-Identifier: Apache-2.0
# Looks for the CUDA toolkit without asking for it, and writes core/base/build_config.h into the build
# tree. A target of its own carries the include path, so that a new version rebuilds the programs only.

find_package(CUDAToolkit QUIET)
set(cudnn "")
if(CUDAToolkit_FOUND)
    find_library(WEFT_CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
    find_path(WEFT_CUDNN_FOLDER cudnn_version.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    if(WEFT_CUDNN_LIBRARY AND WEFT_CUDNN_FOLDER)
        file(STRINGS ${WEFT_CUDNN_FOLDER}/cudnn_version.h numbers
            REGEX "^#define CUDNN_(MAJOR|MINOR) [0-9]+")
        string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*" "\\1.\\2" cudnn "${numbers}")
    endif()
endif()
# Plans for a GPU that is described came with 9.8.
if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND NOT cudnn VERSION_GREATER_EQUAL 9.8)
    set(WEFT_HAS_CUDA_TOOLKIT 0)
    set(WEFT_CUDA_REASON "CUDA toolkit ${CUDAToolkit_VERSION} without cuDNN 9.8 or later")
elseif(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
    set(WEFT_HAS_CUDA_TOOLKIT 1)
    set(WEFT_CUDA_REASON "CUDA toolkit ${CUDAToolkit_VERSION} in ${CUDAToolkit_BIN_DIR}")
elseif(CUDAToolkit_FOUND)
    set(WEFT_HAS_CUDA_TOOLKIT 0)
    set(WEFT_CUDA_REASON "CUDA libraries ${CUDAToolkit_VERSION} without the compiler nvcc")
else()
    set(WEFT_HAS_CUDA_TOOLKIT 0)
    set(WEFT_CUDA_REASON "no CUDA toolkit was found when this program was built (no nvcc)")
endif()

configure_file(${CMAKE_SOURCE_DIR}/core/base/build_config.h.in
    ${CMAKE_BINARY_DIR}/generated/core/base/build_config.h @ONLY)
add_library(weft_build_config INTERFACE)
target_include_directories(weft_build_config INTERFACE ${CMAKE_BINARY_DIR}/generated)
