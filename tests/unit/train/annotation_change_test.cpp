// SPDX-License-Identifier: Apache-2.0
// What a person notes about a run, changed by several at once.
#include "core/train/record/annotations.h"

#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <thread>

using namespace weft;
using namespace weft::train;

class AnnotationChangeTest : public QObject, private weft::test::TestFolder {
    Q_OBJECT

    std::filesystem::path run(const char* name) const {
        std::filesystem::create_directories(path(name));
        return path(name);
    }

private slots:
    void a_change_leaves_alone_what_it_is_not_about() {
        const auto folder = run("parts");
        const Annotations seen{{"good", "first"}, "planned", false};
        change_annotations(folder, {seen, {{"good", "first", "wide"}, "planned", false}});
        change_annotations(folder, {seen, {{"good", "first"}, "a thought", false}});
        change_annotations(folder, {seen, {{"good", "first"}, "planned", true}});
        const Annotations all{{"good", "first", "wide"}, "a thought", true};
        QCOMPARE(read_annotations(folder, nullptr), all);
        QCOMPARE(change_annotations(folder, {seen, {{"first"}, "planned", false}}),
                 (Annotations{{"first", "wide"}, "a thought", true}));
    }

    void tags_take_the_order_of_who_wrote_them_last() {
        const auto folder = run("order");
        const Annotations first{{"a", "b", "c"}, "", false};
        change_annotations(folder, {{}, first});
        const Annotations turned{{"c", "a", "b"}, "", false};
        QCOMPARE(change_annotations(folder, {first, turned}), turned);
    }

    void a_change_that_is_turned_round_takes_itself_back() {
        const auto folder = run("back");
        const Annotations seen{{"good"}, "planned", false};
        const AnnotationChange change{seen, {{"wide"}, "a thought", true}};
        change_annotations(folder, change);
        QCOMPARE(change_annotations(folder, change.reversed()), seen);
        // Another has tagged it in between.
        change_annotations(folder, change);
        change_annotations(folder, {change.after, {{"wide", "new"}, "a thought", true}});
        QCOMPARE(change_annotations(folder, change.reversed()),
                 (Annotations{{"new", "good"}, "planned", false}));
    }

    void of_many_who_write_at_once_none_is_lost() {
        constexpr int kHands = 4;
        constexpr int kTags = 25;
        const auto folder = run("many");
        std::vector<std::string> wanted;
        {
            std::vector<std::jthread> hands;
            for (int hand = 0; hand < kHands; ++hand) {
                for (int i = 0; i < kTags; ++i) {
                    wanted.push_back(std::to_string(hand) + "-" + std::to_string(i));
                }
                hands.emplace_back(
                    [&folder, mine = std::vector(wanted.end() - kTags, wanted.end())] {
                        for (const std::string& tag : mine) {
                            change_annotations(folder, {{}, {{tag}, "", false}});
                        }
                    });
            }
        }
        std::vector<std::string> tags = read_annotations(folder, nullptr).tags;
        std::sort(tags.begin(), tags.end());
        std::sort(wanted.begin(), wanted.end());
        QCOMPARE(tags, wanted);
    }
};

WEFT_TEST(AnnotationChangeTest)
#include "annotation_change_test.moc"
