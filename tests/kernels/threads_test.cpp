// SPDX-License-Identifier: Apache-2.0
// How long a team looks: the rule, and that a sleeping team makes libgomp put waiting threads to
// sleep, as the system counts it.
#include "kernels/threads.h"
#include "kernels/weft_kernels.h"
#include "tests/kernels/cases/harness.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <chrono>

#include <omp.h>
#include <sys/resource.h>

using namespace weft::test;
using weft::kernels::SleepingTeam;
using weft::kernels::TeamPatience;

namespace {

constexpr int kRegions = 60;

long sleeps(int whose) {
    rusage use{};
    getrusage(whose, &use);
    return use.ru_nvcsw;
}

/// How often threads but this one slept while a kernel ran on two again and again, half a
/// millisecond apart: libgomp's own looks take some milliseconds, 100 take some microseconds.
long sleeps_of_a_team() {
    const weft_tensor_type type = type_of(WEFT_F32, {1 << 16});
    const Tensor operand(type);
    const Call call{"mul", {operand, operand}, {type}, {}, {}, {}};
    weft_set_threads(2);
    long before = 0;
    for (int region = 0; region <= kRegions; ++region) {
        if (run(weft_cpu_backend(), call).status != WEFT_OK) {
            return -1;
        }
        if (region == 0) { // the team has started
            before = sleeps(RUSAGE_SELF) - sleeps(RUSAGE_THREAD);
        }
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(500)) {
        }
    }
    weft_set_threads(0);
    return sleeps(RUSAGE_SELF) - sleeps(RUSAGE_THREAD) - before;
}

} // namespace

class KernelTeams : public QObject {
    Q_OBJECT

private slots:
    void a_team_looks_long_until_a_member_waits_and_again_after_half_a_second() {
        TeamPatience patience;
        QVERIFY(patience.looks_long());
        patience.observe(0.14, 0.1); // what the loader takes of small steps
        QVERIFY(patience.looks_long());
        patience.observe(0.3, 0.1);
        QVERIFY(!patience.looks_long());
        for (int i = 0; i < 4; ++i) {
            patience.observe(0.05, 0.1);
            QVERIFY(!patience.looks_long());
        }
        patience.observe(0.2, 0.1); // not quiet, and it counts from the beginning
        for (int i = 0; i < 4; ++i) {
            patience.observe(0.05, 0.1);
            QVERIFY(!patience.looks_long());
        }
        patience.observe(0.05, 0.15);
        QVERIFY(patience.looks_long());
        patience.observe(0.4, 9.0); // a step may be long
        patience.observe(0.01, 9.0);
        QVERIFY(patience.looks_long());
    }

    void beside_a_sleeping_team_threads_sleep_where_they_wait() {
        if (std::min(omp_get_num_procs(), omp_get_thread_limit()) < 2) {
            return; // no team, or one that looks 100 times only
        }
        omp_pause_resource(omp_pause_soft, omp_get_initial_device()); // no team of other tests
        const long alone = sleeps_of_a_team();
        {
            const SleepingTeam sleeping(2);
            const long beside = sleeps_of_a_team();
            QVERIFY2(beside >= kRegions * 9 / 10, std::to_string(beside).c_str());
        }
        const long after = sleeps_of_a_team();
        // On a machine that is busy a look may end for other reasons.
        QVERIFY2(alone >= 0 && alone < kRegions / 2, std::to_string(alone).c_str());
        QVERIFY2(after < kRegions / 2, std::to_string(after).c_str());
    }
};

WEFT_TEST(KernelTeams)
#include "threads_test.moc"
