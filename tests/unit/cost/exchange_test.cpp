// SPDX-License-Identifier: Apache-2.0
// Ring costs against the textbook (Thakur, Rabenseifner and Gropp 2005; FACTS E), worked out by
// hand for round numbers.
#include "core/cost/cost_model.h"
#include "core/cost/exchange.h"
#include "tests/support/weft_test.h"

#include <cmath>

using namespace weft;
using cost::Exchange;

namespace {

constexpr std::int64_t kBytes = 8'000'000;
// 1 MB/ms within a host of 4, a tenth of it between hosts.
constexpr cost::Links kLinks{1e9, 1e-6, 4, 1e8, 1e-5, 5e-6};

// Sums of a few products of doubles.
bool near_cost(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

cost::CostModel simulated(int threads) {
    cost::Calibration calibration;
    calibration.machine.threads = threads;
    calibration.ceilings = cost::Ceilings{{4e10, 2e10, 1e10, 0}, "", 0, 0};
    return cost::CostModel(calibration);
}

} // namespace

class ExchangeTest : public QObject {
    Q_OBJECT

private slots:
    void devices_send_what_the_textbook_says() {
        QCOMPARE(cost::sent_bytes({"all_reduce", kBytes, 8}), std::int64_t{14'000'000});
        QCOMPARE(cost::sent_bytes({"all_gather", kBytes, 8}), std::int64_t{7'000'000});
        QCOMPARE(cost::sent_bytes({"reduce_scatter", kBytes, 8}), std::int64_t{7'000'000});
        QCOMPARE(cost::sent_bytes({"all_to_all", kBytes, 8}), std::int64_t{7'000'000});
        QCOMPARE(cost::sent_bytes({"permute", kBytes, 8}), std::int64_t{8'000'000});
        QCOMPARE(cost::sent_bytes({"broadcast", kBytes, 8}), std::int64_t{8'000'000});
        QCOMPARE(cost::messages({"all_reduce", kBytes, 8}), std::int64_t{14});
        QCOMPARE(cost::messages({"all_gather", kBytes, 8}), std::int64_t{7});
        QCOMPARE(cost::messages({"permute", kBytes, 8}), std::int64_t{1});
    }

    void an_all_reduce_is_a_reduce_scatter_and_an_all_gather() {
        for (const std::int64_t devices : {2, 4, 8, 64}) {
            const std::int64_t bytes = devices * 1000;
            QCOMPARE(cost::sent_bytes({"all_reduce", bytes, devices}),
                     cost::sent_bytes({"reduce_scatter", bytes, devices}) +
                         cost::sent_bytes({"all_gather", bytes, devices}));
        }
    }

    void one_device_exchanges_nothing() {
        for (const char* kind : {"all_reduce", "all_gather", "permute", "broadcast"}) {
            QCOMPARE(cost::sent_bytes({kind, kBytes, 1}), std::int64_t{0});
            QCOMPARE(cost::exchange_s({kind, kBytes, 1}, kLinks), 0.0);
        }
    }

    // 2 x 8 MB x 3/4 at 1 GB/s, six messages of 1 us, 5 us to begin.
    void within_a_host_time_is_bytes_over_links_and_messages() {
        QVERIFY(
            near_cost(cost::exchange_s({"all_reduce", kBytes, 4, 4}, kLinks), 12e-3 + 6e-6 + 5e-6));
        QVERIFY(
            near_cost(cost::exchange_s({"all_reduce", kBytes, 4}, kLinks), 12e-3 + 6e-6 + 5e-6));
    }

    // Two of the eight in each host: two ways out at 0.1 GB/s; every second message leaves a host.
    void between_hosts_the_members_of_a_host_share_its_ways_out() {
        QVERIFY(near_cost(cost::exchange_s({"all_gather", kBytes, 8, 2}, kLinks),
                          7e-3 / 0.2 + 3.5 * 1e-5 + 3.5 * 1e-6 + 5e-6));
        cost::Links fast = kLinks;
        fast.network_bandwidth = 1e12; // no faster than the links within the hosts
        QVERIFY(near_cost(cost::exchange_s({"permute", kBytes, 8, 1}, fast), 8e-3 + 1e-5 + 5e-6));
    }

    void simulated_devices_share_the_machine_and_catalogue_hardware_does_not() {
        const cost::CostModel here = simulated(2);
        QCOMPARE(here.share(1), 1.0);
        QCOMPARE(here.share(4), 4.0);
        QCOMPARE(here.share(2), 2.0);
        QCOMPARE(simulated(8).share(2), 8.0); // two teams of one thread leave six cores idle
        const cost::CostModel there(*cost::find_hardware("h200"));
        QCOMPARE(there.share(64), 1.0);
        // Twice the devices move twice the bytes through the same memory.
        const Exchange all{"permute", 1'000'000'000, 2};
        QVERIFY(here.exchange_ms(all, 8) > 1.9 * here.exchange_ms(all, 4));
    }

    // The same product on each of four devices takes four times as long where they share a machine.
    void a_mesh_takes_its_work_times_its_share_and_its_exchanges() {
        const cost::CostModel here = simulated(1);
        cost::Work product;
        product.kind = "matmul";
        product.flops = product.product_flops = 2e10; // a second at the f32 rate
        const Exchange exchange{"all_reduce", 1'000'000, 4, 0, 3};
        const double alone = here.predict({product}).ms;
        const cost::Prediction mesh = here.predict(cost::MeshWork{{product}, {exchange}, 4});
        QVERIFY(near_cost(alone, 1e3));
        QVERIFY(near_cost(mesh.ms, 4 * alone + 3 * here.exchange_ms(exchange, 4)));
        QVERIFY(mesh.error > 0);
    }

    void every_hardware_says_how_its_devices_are_joined() {
        for (const cost::Hardware& one : cost::hardware_catalogue()) {
            const std::string name(one.name);
            QVERIFY2(one.link_latency_s > 0 && one.host_devices > 1 && one.network_bandwidth > 0,
                     name.c_str());
            QVERIFY2(!one.link_source.empty(), name.c_str());
            QVERIFY2(one.network_bandwidth < one.link_bandwidth, name.c_str());
        }
    }
};

WEFT_TEST(ExchangeTest)
#include "exchange_test.moc"
