// SPDX-License-Identifier: Apache-2.0
// The format as NumPy Enhancement Proposal 1 says it.
#include "core/base/npy.h"
#include "tests/support/weft_test.h"

#include <vector>

using namespace weft;

class NpyTest : public QObject {
    Q_OBJECT

private slots:
    void a_beginning_is_a_dictionary_up_to_a_multiple_of_64_bytes() {
        for (std::size_t dims = 0; dims < 20; ++dims) {
            const std::vector<std::int64_t> shape(dims, 12);
            const std::string begin = npy_beginning("<f4", shape);
            QCOMPARE(begin.size() % 64, std::size_t{0});
            QCOMPARE(begin.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
            const auto low = static_cast<unsigned char>(begin[8]);
            const auto high = static_cast<unsigned char>(begin[9]);
            QCOMPARE(low + 256 * high, static_cast<int>(begin.size()) - 10);
            QCOMPARE(begin.back(), '\n');
            std::string extents;
            for (std::size_t i = 0; i < dims; ++i) {
                extents += "12, ";
            }
            const std::string text =
                "{'descr': '<f4', 'fortran_order': False, 'shape': (" + extents + "), }";
            QCOMPARE(begin.substr(10, text.size()), text);
            QCOMPARE(begin.find_first_not_of(' ', 10 + text.size()), begin.size() - 1);
        }
    }
};

WEFT_TEST(NpyTest)
#include "npy_test.moc"
