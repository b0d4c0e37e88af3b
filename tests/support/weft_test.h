// SPDX-License-Identifier: Apache-2.0
// The registry of Qt Test classes of one test binary. Each source writes WEFT_TEST(ClassName) once;
// main (weft_test.cpp) runs every class and returns the number of failed ones.
#pragma once

#include <QtTest/QtTest>
#undef emit // Qt's empty keyword; ops::Builder has a function of this name

#include <functional>

namespace weft::test {

/// Adds a factory for one test class; called by WEFT_TEST before main.
bool register_test(const char* name, std::function<QObject*()> factory);

} // namespace weft::test

#define WEFT_TEST(ClassName)                                                                       \
    [[maybe_unused]] static const bool registered_##ClassName =                                    \
        weft::test::register_test(#ClassName, [] { return static_cast<QObject*>(new ClassName); });
