# SPDX-License-Identifier: Apache-2.0
# Compiler settings and the two functions that declare a library or a test folder.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

find_program(WEFT_CCACHE ccache)
if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # The sloppiness lets ccache reuse objects that were built with a precompiled header. That of headers'
    # times would let it keep an object whose header was written while it was being compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${WEFT_CCACHE})
endif()
find_program(WEFT_LLD ld.lld)
if(WEFT_LLD)
    add_link_options(-fuse-ld=lld)
endif()

# The kernels, where the time of a run goes, ask for -O3 themselves.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
# Line numbers and function names for back traces; full debug information costs a third of the build.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow=local -Wnon-virtual-dtor)
if(WEFT_WERROR)
    # GCC 12 sees overlapping copies and overruns in string concatenations (bugs 105651, 105329) and
    # uninitialised vectors in its own AVX-512 header (bug 105593) where there are none.
    add_compile_options(-Werror -Wno-error=restrict -Wno-error=array-bounds
        -Wno-error=stringop-overflow -Wno-error=maybe-uninitialized)
endif()
if(CMAKE_UNITY_BUILD)
    # GCC takes the sources of a batch for headers.
    add_compile_options(-Wno-subobject-linkage)
endif()
if(WEFT_SANITIZE)
    # Undefined behaviour ends a test, as bad memory does.
    add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=undefined)
    add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()

# weft_precompiled(<target> <kind>): compiles a target's sources on top of precompiled_<kind>.h:
# "engine" is the standard library and JSON, "qt" adds widgets, "test" Qt Test as well. Each is built
# once. Sources include what they use all the same: this only makes reading it again cheap.
function(weft_precompiled target kind)
    set(needs nlohmann_json::nlohmann_json)
    if(kind STREQUAL "qt")
        list(APPEND needs Qt6::Widgets)
    elseif(kind STREQUAL "test")
        list(APPEND needs weft_test_support) # which says what of Qt there is
    endif()
    set(holder weft_precompiled_${kind})
    if(NOT TARGET ${holder})
        set(folder ${CMAKE_BINARY_DIR}/precompiled)
        file(CONFIGURE OUTPUT ${folder}/${kind}.cpp CONTENT "// Built for its precompiled header.\n")
        add_library(${holder} OBJECT ${folder}/${kind}.cpp)
        target_include_directories(${holder} PRIVATE ${CMAKE_SOURCE_DIR})
        target_link_libraries(${holder} PRIVATE ${needs})
        if(kind STREQUAL "test")
            weft_test_options(${holder})
        endif()
        target_precompile_headers(${holder} PRIVATE
            ${CMAKE_SOURCE_DIR}/packaging/cmake/precompiled_${kind}.h)
    endif()
    # Executables are -fPIE by default, which cannot share a header with libraries.
    target_compile_options(${target} PRIVATE -fPIC)
    target_precompile_headers(${target} REUSE_FROM ${holder})
endfunction()

# weft_test_options(<target>): tests' own sources are long and run once; what they test is compiled as
# ever.
function(weft_test_options target)
    if(CMAKE_BUILD_TYPE MATCHES "^Rel")
        target_compile_options(${target} PRIVATE -O1)
    endif()
endfunction()

# weft_library(<name> [FOLDER dir] [QT] [DEPENDS target...]): a static library of every source in a folder;
# QT for those that link Qt.
function(weft_library name)
    cmake_parse_arguments(ARG "QT" "FOLDER" "DEPENDS" ${ARGN})
    if(NOT ARG_FOLDER)
        set(ARG_FOLDER ${CMAKE_CURRENT_SOURCE_DIR})
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_FOLDER}/*.cpp ${ARG_FOLDER}/*.h)
    if(NOT sources)
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE ${ARG_DEPENDS})
        return()
    endif()
    add_library(${name} STATIC ${sources})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS})
    if(ARG_QT)
        weft_precompiled(${name} qt)
    else()
        weft_precompiled(${name} engine)
    endif()
endfunction()

# weft_allocator(<program>): a plan is millions of small objects made and freed together, for which the C
# library's allocator takes a third of the time that compiling takes. Sanitizers bring their own.
function(weft_allocator program)
    if(WEFT_MIMALLOC AND NOT WEFT_SANITIZE)
        target_link_libraries(${program} PRIVATE mimalloc weft_kernels)
        target_sources(${program} PRIVATE ${CMAKE_SOURCE_DIR}/app/allocation.cpp)
    endif()
endfunction()

# weft_benchmark(<name> <source>...): a program to look at or to measure with. Built by the target
# "benchmarks", not by default; a heavy test sees that it still builds.
function(weft_benchmark name)
    add_executable(${name} EXCLUDE_FROM_ALL ${ARGN})
    if(NOT TARGET benchmarks)
        add_custom_target(benchmarks)
        add_test(NAME benchmarks_build
            COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target benchmarks)
        set_tests_properties(benchmarks_build PROPERTIES LABELS "perf;heavy" TIMEOUT 3600)
    endif()
    add_dependencies(benchmarks ${name})
endfunction()

# weft_tests(<label> [DEPENDS target...]): one Qt Test binary of every source in the current folder; each
# of its classes is a test of ctest, NAME.Class, under the label. HEAVY keeps them out of the default set.
# ROOMS takes the sources of its folders, too. COMMA_LOCALE adds a heavy test that runs all of them once more where numbers have decimal commas.
function(weft_tests label)
    cmake_parse_arguments(ARG "HEAVY;COMMA_LOCALE;ROOMS" "NAME" "DEPENDS" ${ARGN})
    if(NOT ARG_NAME)
        get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
        set(ARG_NAME ${folder})
    endif()
    set(name test_${ARG_NAME})
    if(ARG_ROOMS)
        file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp *.h)
    else()
        file(GLOB sources CONFIGURE_DEPENDS *.cpp *.h)
    endif()
    add_executable(${name} ${sources})
    set_target_properties(${name} PROPERTIES AUTOMOC ON)
    target_link_libraries(${name} PRIVATE weft_test_support ${ARG_DEPENDS})
    weft_test_options(${name})
    weft_precompiled(${name} test)
    target_compile_definitions(${name} PRIVATE
        WEFT_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}" WEFT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    set(labels ${label})
    set(limit_s 300)
    if(ARG_HEAVY)
        list(APPEND labels heavy)
        set(limit_s 1800)
    endif()
    if(WEFT_SANITIZE)
        math(EXPR limit_s "6 * ${limit_s}") # as much slower
    endif()
    if(ARG_COMMA_LOCALE)
        add_test(NAME ${ARG_NAME}_under_a_comma_locale
            COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${name}>
                -D FOLDER=${CMAKE_CURRENT_BINARY_DIR}/locale
                -P ${CMAKE_SOURCE_DIR}/packaging/cmake/UnderCommaLocale.cmake)
        set_tests_properties(${ARG_NAME}_under_a_comma_locale PROPERTIES
            LABELS "${label};heavy" TIMEOUT 3600 SKIP_REGULAR_EXPRESSION "SKIPPED:")
    endif()
    # The program itself knows its classes, so they are listed when it is built.
    set(list_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_classes.cmake)
    set(list_classes ${CMAKE_SOURCE_DIR}/packaging/cmake/ListTestClasses.cmake)
    add_custom_command(TARGET ${name} POST_BUILD BYPRODUCTS ${list_file} VERBATIM
        COMMAND ${CMAKE_COMMAND} -D NAME=${ARG_NAME} -D PROGRAM=$<TARGET_FILE:${name}>
            -D "LABELS=${labels}" -D LIMIT_S=${limit_s} -D OUTPUT=${list_file} -P ${list_classes})
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${list_classes})
    if(NOT EXISTS ${list_file})
        file(WRITE ${list_file} "add_test(${ARG_NAME}_is_not_built ${name})\n")
    endif()
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${list_file})
endfunction()
