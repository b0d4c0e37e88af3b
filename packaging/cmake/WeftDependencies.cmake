# SPDX-License-Identifier: Apache-2.0
# Every library that the product links, found here once.

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(EXPAT REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.88)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8>=10.34)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(SENTENCEPIECE REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)

# What moves bytes between processes: modules, of what is here.
pkg_check_modules(MPI IMPORTED_TARGET ompi)
find_library(WEFT_GLOO_LIBRARY gloo)

# The CPU kernels are written against oneDNN 2.6; the 3.x API differs in every call.
find_package(dnnl REQUIRED)
if(NOT dnnl_VERSION VERSION_GREATER_EQUAL 2.6 OR NOT dnnl_VERSION VERSION_LESS 3.0)
    message(FATAL_ERROR "oneDNN ${dnnl_VERSION} was found, but Weft needs 2.6 or a later 2.x "
        "(Debian 12: apt install libdnnl-dev). Point CMake at one with -Ddnnl_DIR=<prefix>/lib/cmake/dnnl.")
endif()

find_path(XBYAK_INCLUDE_DIR xbyak/xbyak.h REQUIRED DOC "Headers of the assembler of the CPU kernels")

if(WEFT_MIMALLOC)
    find_package(mimalloc 2.0 QUIET)
    if(NOT mimalloc_FOUND)
        message(WARNING "mimalloc is not installed (packaging/install-deps installs it): the programs "
                        "use the C library's allocator, and plans take half as long again")
        set(WEFT_MIMALLOC OFF)
    endif()
endif()

if(WEFT_UI)
    find_package(Qt6 6.4 REQUIRED COMPONENTS Widgets DBus Svg PrintSupport Network)
    find_package(QCustomPlotQt6 REQUIRED)
endif()
if(WEFT_TESTS)
    find_package(Qt6 6.4 REQUIRED COMPONENTS Test)
    # The folders of each test as macros, for QFINDTESTDATA: with them no two could share a precompiled
    # header.
    get_target_property(definitions Qt6::Test INTERFACE_COMPILE_DEFINITIONS)
    list(FILTER definitions EXCLUDE REGEX QT_TESTCASE_)
    set_target_properties(Qt6::Test PROPERTIES INTERFACE_COMPILE_DEFINITIONS "${definitions}")
endif()
