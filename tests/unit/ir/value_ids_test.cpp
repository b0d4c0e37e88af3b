// SPDX-License-Identifier: Apache-2.0
// Lists of values do what std::vector does, whether they lie in place or not; names are one text.
#include "core/ir/name.h"
#include "core/ir/value_ids.h"
#include "tests/support/weft_test.h"

#include <random>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace weft;
using namespace weft::ir;

class ValueIdsTest : public QObject {
    Q_OBJECT

    static bool same(const ValueIds& ids, const std::vector<ValueId>& oracle) {
        return std::equal(ids.begin(), ids.end(), oracle.begin(), oracle.end()) &&
               ids.size() == oracle.size() && ids.empty() == oracle.empty();
    }

private slots:
    void lists_do_what_vectors_do_after_any_sequence_of_calls() {
        std::mt19937 random(7);
        const auto below = [&](std::size_t count) {
            return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
        };
        for (int round = 0; round < 2000; ++round) {
            ValueIds ids;
            std::vector<ValueId> oracle;
            for (int call = 0; call < 30; ++call) {
                const ValueId id{static_cast<std::int32_t>(below(100))};
                const std::size_t place = below(ids.size() + 1);
                const auto at = static_cast<std::ptrdiff_t>(place);
                switch (below(9)) {
                case 0:
                case 1:
                    ids.push_back(id);
                    oracle.push_back(id);
                    break;
                case 2:
                    ids.insert(ids.begin() + at, id);
                    oracle.insert(oracle.begin() + at, id);
                    break;
                case 3: {
                    const std::vector<ValueId> more(below(6), id);
                    ids.insert(ids.begin() + at, more.begin(), more.end());
                    oracle.insert(oracle.begin() + at, more.begin(), more.end());
                    break;
                }
                case 4:
                    if (place < ids.size()) {
                        ids.erase(ids.begin() + at);
                        oracle.erase(oracle.begin() + at);
                    }
                    break;
                case 5:
                    ids.resize(place, id);
                    oracle.resize(place, id);
                    break;
                case 6:
                    erase_if(ids, [&](ValueId one) { return one.index < 10; });
                    std::erase_if(oracle, [&](ValueId one) { return one.index < 10; });
                    break;
                case 7: {
                    ValueIds copy = ids;
                    ids.push_back(id); // the copy keeps its own
                    QVERIFY(same(copy, oracle));
                    ids = copy;
                    break;
                }
                default: {
                    ValueIds moved = std::move(ids);
                    QVERIFY(ids.empty());
                    ids.push_back(id); // what was moved from is a list again
                    QCOMPARE(ids.size(), std::size_t{1});
                    ids = std::move(moved);
                    break;
                }
                }
                QVERIFY(same(ids, oracle));
            }
        }
    }

    void lists_compare_by_their_values() {
        const ValueIds few{{1}, {2}};
        ValueIds many(few);
        many.resize(9);
        QVERIFY(!(many == few));
        many.resize(2);
        QVERIFY(many == few); // one of them not in place
        QVERIFY(!(ValueIds{{1}, {3}} == few));
    }

    void names_of_one_text_are_one_name_on_every_thread() {
        constexpr int kTexts = 1000;
        std::vector<std::vector<Name>> made(4);
        {
            std::vector<std::jthread> threads;
            for (std::vector<Name>& names : made) {
                threads.emplace_back([&names] {
                    for (int i = 0; i < kTexts; ++i) {
                        names.emplace_back("blocks." + std::to_string(i));
                    }
                });
            }
        }
        std::set<const std::string*> texts;
        for (int i = 0; i < kTexts; ++i) {
            const auto at = static_cast<std::size_t>(i);
            for (const std::vector<Name>& names : made) {
                QVERIFY(names[at] == made[0][at]);
                QCOMPARE(names[at].text(), "blocks." + std::to_string(i));
                texts.insert(&names[at].text());
            }
        }
        QCOMPARE(texts.size(), std::size_t{kTexts});
    }

    void names_are_texts_in_order() {
        QVERIFY(Name().empty());
        QVERIFY(Name() == Name(""));
        QVERIFY(Name("add") == "add");
        QVERIFY(!(Name("add") == std::string("adds")));
        QVERIFY(Name("add") < Name("mul"));
        QCOMPARE("gradient of " + Name("0.weight"), std::string("gradient of 0.weight"));
    }
};

} // namespace

WEFT_TEST(ValueIdsTest)
#include "value_ids_test.moc"
