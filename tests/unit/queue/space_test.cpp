// SPDX-License-Identifier: Apache-2.0
// What a sweep varies, and what is drawn from it.
#include "core/base/error.h"
#include "core/queue/space.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace {

using namespace weft;
using namespace weft::queue;
using config::Json;
using Kind = Dimension::Kind;

std::vector<Dimension> varied(std::initializer_list<const char*> texts) {
    std::vector<Dimension> out;
    for (const char* text : texts) {
        out.push_back(parse_dimension(text));
    }
    return out;
}

std::set<std::string> texts_of(const std::vector<Settings>& trials) {
    std::set<std::string> out;
    for (const Settings& trial : trials) {
        std::string text;
        for (const std::string& one : assignments_of(trial)) {
            text += one + ";";
        }
        out.insert(text);
    }
    return out;
}

class SpaceTest : public QObject {
    Q_OBJECT

private slots:
    void values_are_read_as_set_reads_them() {
        const Dimension numbers = parse_dimension("training.global_batch_size=32,64, 128");
        QCOMPARE(numbers.path, std::string("training.global_batch_size"));
        QVERIFY(numbers.choices == (std::vector<Json>{32, 64, 128}));
        const Dimension mixed = parse_dimension("x=adam,true,null,\"a,b\"");
        QVERIFY(mixed.choices == (std::vector<Json>{"adam", true, nullptr, "a,b"}));
        const Dimension lists = parse_dimension(R"(model.hidden=[64],[128,128],{"a":[1,2]})");
        QVERIFY(lists.choices ==
                (std::vector<Json>{Json{64}, Json{128, 128}, {{"a", Json{1, 2}}}}));
    }

    void what_is_no_space_is_refused_data() {
        QTest::addColumn<QString>("text");
        for (const char* text :
             {"learning_rate", "=3", "x=", "x=1,,2", "x=1,1", "x=log:0..1", "x=log:-1..1",
              "x=uniform:2..1", "x=int:1.5..3", "x=int:1..", "x=int:a..b", "x=log:1e-3",
              "x=uniform:0..1:0", "x=uniform:0..1:2.5", "x=uniform:0..inf", "x=logint:0..8"}) {
            QTest::addRow("%s", text) << text;
        }
    }

    void what_is_no_space_is_refused() {
        QFETCH(QString, text);
        try {
            parse_dimension(text.toStdString());
            QFAIL("it was taken");
        } catch (const Error& fault) {
            QVERIFY(fault.kind() == ErrorKind::usage);
            QVERIFY(!fault.hint().empty());
            QVERIFY(fault.where().find("--vary") != std::string::npos);
        }
    }

    void a_grid_has_every_combination_once() {
        const auto grid = grid_of(varied({"a=1,2,3", "b=x,y", "c=int:4..7"}));
        QCOMPARE(grid.size(), std::size_t{3 * 2 * 4});
        QCOMPARE(texts_of(grid).size(), grid.size());
        QCOMPARE(*combinations(varied({"a=1,2,3", "b=x,y", "c=int:4..7"})), std::int64_t{24});
        QCOMPARE(assignments_of(grid.front()), (std::vector<std::string>{"a=1", "b=\"x\"", "c=4"}));
        QCOMPARE(assignments_of(grid[1]), (std::vector<std::string>{"a=1", "b=\"x\"", "c=5"}));
    }

    void points_of_a_range_are_evenly_spaced() {
        const auto logarithmic = grid_of(varied({"x=log:1e-4..1e-2:5"}));
        QCOMPARE(logarithmic.size(), std::size_t{5});
        for (std::size_t i = 0; i < 5; ++i) {
            const double expected = std::pow(10.0, -4 + 0.5 * static_cast<double>(i));
            const double value = logarithmic[i][0].second.get<double>();
            QVERIFY(std::abs(value / expected - 1) < 1e-4); // five digits
        }
        const auto linear = grid_of(varied({"x=uniform:0..0.5:3"}));
        QCOMPARE(linear[1][0].second.get<double>(), 0.25);
        QCOMPARE(linear[2][0].second.get<double>(), 0.5);
        QCOMPARE(grid_of(varied({"x=int:1..3:10"})).size(), std::size_t{3});
    }

    void a_grid_needs_an_end() {
        QVERIFY_THROWS_EXCEPTION(Error, grid_of(varied({"x=log:1e-4..1e-2"})));
        QVERIFY_THROWS_EXCEPTION(Error, grid_of(varied({"x=int:1..10001"})));
        QVERIFY_THROWS_EXCEPTION(
            Error, grid_of(varied({"x=int:1..1000000", "y=int:1..1000000", "z=int:1..1000000"})));
    }

    void the_same_seed_draws_the_same_trials() {
        const auto space = varied({"a=log:1e-4..1e-1", "b=32,64", "c=int:1..9"});
        QVERIFY(draw_from(space, 20, 5) == draw_from(space, 20, 5));
        QVERIFY(draw_from(space, 20, 5) != draw_from(space, 20, 6));
        const auto more = draw_from(space, 40, 5);
        QVERIFY(std::equal(more.begin(), more.begin() + 20, draw_from(space, 20, 5).begin()));
        const auto finite = varied({"b=32,64", "c=int:1..9"});
        const auto few = draw_from(finite, 5, 1);
        QVERIFY(std::equal(few.begin(), few.end(), draw_from(finite, 18, 1).begin()));
    }

    void a_setting_is_drawn_alike_whatever_else_is_varied() {
        const auto alone = draw_from(varied({"a=log:1e-4..1e-1"}), 10, 3);
        const auto beside = draw_from(varied({"b=uniform:0..1", "a=log:1e-4..1e-1"}), 10, 3);
        for (std::size_t i = 0; i < 10; ++i) {
            QVERIFY(alone[i][0] == beside[i][1]);
        }
    }

    void no_two_trials_of_a_finite_space_are_equal() {
        const auto space = varied({"a=1,2,3", "b=int:1..4"});
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            QCOMPARE(texts_of(draw_from(space, 12, seed)).size(), std::size_t{12});
        }
        QCOMPARE(texts_of(draw_from(varied({"a=logint:1..30"}), 30, 1)).size(), std::size_t{30});
        QVERIFY_THROWS_EXCEPTION(Error, draw_from(space, 13, 0));
        QVERIFY_THROWS_EXCEPTION(Error, draw_from(space, 0, 0));
    }

    // Kolmogorov and Smirnov: of n independent draws the largest distance of the empirical from the
    // true distribution is above 1.95 / sqrt(n) once in a thousand times. Seeds are fixed.
    void draws_are_spread_as_the_range_says() {
        constexpr int kDraws = 2000;
        const auto distance = [](std::vector<double> shares) {
            std::sort(shares.begin(), shares.end());
            double out = 0;
            for (std::size_t i = 0; i < shares.size(); ++i) {
                const auto n = static_cast<double>(shares.size());
                out = std::max({out, std::abs(shares[i] - static_cast<double>(i) / n),
                                std::abs(shares[i] - static_cast<double>(i + 1) / n)});
            }
            return out;
        };
        std::vector<double> linear;
        std::vector<double> logarithmic;
        for (const Settings& one :
             draw_from(varied({"u=uniform:2..6", "l=log:1e-4..1e-2"}), kDraws, 11)) {
            linear.push_back((one[0].second.get<double>() - 2) / 4);
            logarithmic.push_back((std::log10(one[1].second.get<double>()) + 4) / 2);
        }
        const double limit = 1.95 / std::sqrt(kDraws);
        QVERIFY(distance(linear) < limit);
        QVERIFY(distance(logarithmic) < limit);
    }

    // Five standard deviations of a binomial.
    void choices_and_whole_numbers_are_drawn_evenly() {
        constexpr int kDraws = 4000;
        std::map<std::int64_t, int> counts;
        int first = 0;
        for (const Settings& one :
             draw_from(varied({"c=16,32", "i=int:3..7", "r=uniform:0..1"}), kDraws, 2)) {
            first += one[0].second == 16 ? 1 : 0;
            ++counts[one[1].second.get<std::int64_t>()];
        }
        QVERIFY(std::abs(first - kDraws / 2) < 5 * std::sqrt(kDraws * 0.25));
        QCOMPARE(counts.size(), std::size_t{5});
        for (const auto& [value, count] : counts) {
            QVERIFY(value >= 3 && value <= 7);
            QVERIFY(std::abs(count - kDraws / 5) < 5 * std::sqrt(kDraws * 0.16));
        }
    }

    void draws_stay_in_their_range() {
        for (const Settings& one :
             draw_from(varied({"l=log:3e-5..3.3333333e-5", "w=logint:16..17", "r=uniform:-1..1"}),
                       500, 1)) {
            const double l = one[0].second.get<double>();
            QVERIFY(l >= 3e-5 && l <= 3.3333333e-5);
            const auto w = one[1].second.get<std::int64_t>();
            QVERIFY(w == 16 || w == 17);
            QVERIFY(std::abs(one[2].second.get<double>()) <= 1);
        }
    }
};

} // namespace

WEFT_TEST(SpaceTest)
#include "space_test.moc"
