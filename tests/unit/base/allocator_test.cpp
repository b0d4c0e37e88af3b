// SPDX-License-Identifier: Apache-2.0
#include "core/base/allocator.h"
#include "tests/support/weft_test.h"

#include <dlfcn.h>

using namespace weft;

class AllocatorTest : public QObject {
    Q_OBJECT
private slots:
    void freed_memory_is_kept_by_an_allocator_that_can_keep_it() {
        const bool can = dlsym(RTLD_DEFAULT, "mi_option_set") != nullptr;
        QCOMPARE(keep_freed_memory(), can);
    }
};

WEFT_TEST(AllocatorTest)
#include "allocator_test.moc"
