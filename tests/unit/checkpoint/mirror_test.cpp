// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/checkpoint/mirror.h"
#include "core/checkpoint/remote.h"
#include "tests/support/store_server.h"
#include "tests/unit/checkpoint/checkpoint_support.h"

#include <algorithm>

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;
using weft::test::StoreServer;
using weft::test::WireReply;
using weft::test::WireRequest;

namespace {

const store::Address kRun = store::parse_address("s3://bucket/runs/a_001");
const store::Patience kNoPatience{2, 0.001};

store::Access test_access(const StoreServer& server) {
    return {server.endpoint(), "eu-test-1", StoreServer::kKeyId, StoreServer::kSecret, ""};
}

/// A run on disk whose newest checkpoint stays, and a store.
struct Scene {
    Folder folder;
    StoreServer server;

    MirrorOptions options() const {
        return {folder.path(), kRun, test_access(server), kNoPatience, [] {}};
    }
    void save(std::int64_t step, std::int64_t keep = 1) {
        ManagerOptions rules;
        rules.folder = folder.path() / "checkpoints";
        rules.async = false;
        rules.keep_latest = keep;
        rules.keep_best = 0;
        Manager manager(rules);
        manager.save(every_type().views(), record_of(step));
        const std::vector<Saved> saved = manager.take_finished();
        QVERIFY2(saved.at(0).error.empty(), saved.at(0).error.c_str());
    }
    std::vector<std::int64_t> steps_there() {
        store::ObjectStore store(kRun, test_access(server), kNoPatience);
        std::vector<std::int64_t> out;
        for (const auto& [step, there] : remote_steps(store, kRun.below("checkpoints"))) {
            if (there.complete) {
                out.push_back(step);
            }
        }
        return out;
    }
};

using Steps = std::vector<std::int64_t>;

bool is_manifest_put(const std::string& line) {
    return line.starts_with("PUT") && line.ends_with("/manifest.json");
}

} // namespace

class MirrorTest : public QObject {
    Q_OBJECT

private slots:
    void what_is_saved_arrives_and_what_retention_removes_goes() {
        Scene scene;
        write_all(scene.folder.path() / "config.json", "{}");
        scene.save(1);
        Mirror mirror(scene.options());
        QCOMPARE(mirror.settle(), Steps());
        QCOMPARE(scene.steps_there(), Steps{1});
        const auto requests = scene.server.requests();
        const auto put = [&](const char* name) {
            return std::find_if(requests.begin(), requests.end(), [name](const std::string& line) {
                return line.starts_with("PUT") && line.ends_with(name);
            });
        };
        QVERIFY(put("/arrays-00000.h5") < put("/manifest.json"));
        QCOMPARE(scene.server.objects().count("/bucket/runs/a_001/config.json"), std::size_t(1));
        scene.save(2);
        mirror.wake();
        QCOMPARE(mirror.settle(), Steps());
        QCOMPARE(scene.steps_there(), Steps{2});
        QCOMPARE(scene.server.bad_signatures(), std::vector<std::string>());
    }

    void what_others_left_in_the_store_stays() {
        Scene scene;
        scene.save(1);
        { QCOMPARE(Mirror(scene.options()).settle(), Steps()); }
        remove_tree(scene.folder.path() / "checkpoints");
        scene.save(2);
        Mirror later(scene.options());
        QCOMPARE(later.settle(), Steps());
        QCOMPARE(scene.steps_there(), (Steps{1, 2}));
    }

    void a_folder_that_is_gone_costs_no_copy() {
        Scene scene;
        scene.save(1);
        Mirror mirror(scene.options());
        QCOMPARE(mirror.settle(), Steps());
        remove_tree(scene.folder.path() / "checkpoints");
        mirror.wake();
        QCOMPARE(mirror.settle(), Steps());
        QCOMPARE(scene.steps_there(), Steps{1});
    }

    void a_store_that_fails_is_told_and_made_up_for() {
        Scene scene;
        scene.save(1);
        scene.server.order([](const WireRequest& request) -> std::optional<WireReply> {
            return request.method == "PUT" ? std::optional(WireReply{503, ""}) : std::nullopt;
        });
        Mirror mirror(scene.options());
        QCOMPARE(mirror.settle(), Steps{1});
        const std::vector<MirrorNews> news = mirror.take_news();
        QCOMPARE(news.size(), std::size_t(1));
        QVERIFY(news[0].is_problem);
        QVERIFY2(news[0].text.find("503") != std::string::npos, news[0].text.c_str());
        QCOMPARE(scene.steps_there(), Steps());
        scene.server.order({});
        mirror.wake();
        QCOMPARE(mirror.settle(), Steps());
        QCOMPARE(scene.steps_there(), Steps{1});
        QVERIFY(!mirror.take_news().at(0).is_problem);
    }

    void a_mark_by_hand_is_sent_without_the_arrays() {
        Scene scene;
        scene.save(1);
        Mirror mirror(scene.options());
        QCOMPARE(mirror.settle(), Steps());
        const std::size_t before = scene.server.requests().size();
        const auto path = scene.folder.path() / "checkpoints" / folder_name(1);
        set_pinned(read_manifest(path), true);
        mirror.wake();
        QCOMPARE(mirror.settle(), Steps());
        auto requests = scene.server.requests();
        requests.erase(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(before));
        QCOMPARE(std::count_if(requests.begin(), requests.end(), is_manifest_put), 1);
        QVERIFY(std::none_of(requests.begin(), requests.end(), [](const std::string& line) {
            return line.find("arrays-") != std::string::npos;
        }));
        QCOMPARE(scene.server.objects().at("/bucket/runs/a_001/checkpoints/step-00000001/"
                                           "manifest.json"),
                 read_all(path / "manifest.json"));
    }

    void a_later_session_sends_only_what_is_missing() {
        Scene scene;
        scene.save(1, 2);
        { QCOMPARE(Mirror(scene.options()).settle(), Steps()); }
        scene.save(2, 2);
        const std::size_t before = scene.server.requests().size();
        { QCOMPARE(Mirror(scene.options()).settle(), Steps()); }
        const auto requests = scene.server.requests();
        QCOMPARE(std::count_if(requests.begin() + static_cast<std::ptrdiff_t>(before),
                               requests.end(), is_manifest_put),
                 1);
        QCOMPARE(scene.steps_there(), (Steps{1, 2}));
    }

    void what_is_fetched_is_what_was_sent() {
        Scene scene;
        scene.save(1);
        { QCOMPARE(Mirror(scene.options()).settle(), Steps()); }
        const Folder elsewhere;
        store::ObjectStore store(kRun, test_access(scene.server), kNoPatience);
        const store::Address address = find_remote(store, kRun);
        QCOMPARE(address.name(), folder_name(1));
        const auto path = fetch_checkpoint(store, address, elsewhere.path());
        const Manifest there = read_manifest(path);
        QCOMPARE(verify(there), std::vector<std::string>());
        QVERIFY(compare(there, read_manifest(scene.folder.path() / "checkpoints" / folder_name(1)))
                    .equal());
        const std::size_t before = scene.server.requests().size();
        fetch_checkpoint(store, address, elsewhere.path());
        for (std::size_t i = before; i < scene.server.requests().size(); ++i) {
            QVERIFY(scene.server.requests()[i].find("arrays-") == std::string::npos); // it is here
        }
    }

    void without_its_manifest_there_is_no_checkpoint() {
        Scene scene;
        scene.server.set("/bucket/runs/a_001/checkpoints/step-00000007/arrays-00000.h5", "x");
        store::ObjectStore store(kRun, test_access(scene.server), kNoPatience);
        QVERIFY(error_of([&] { find_remote(store, kRun); }).has_value());
        const Folder elsewhere;
        const auto fault = error_of([&] {
            fetch_checkpoint(store, kRun.below("checkpoints").below(folder_name(7)),
                             elsewhere.path());
        });
        QVERIFY(fault.has_value());
        QVERIFY(fault->text().find("no manifest") != std::string::npos);
    }

    void a_part_that_was_cut_short_is_not_taken() {
        Scene scene;
        scene.save(1);
        { QCOMPARE(Mirror(scene.options()).settle(), Steps()); }
        const std::string shard = "/bucket/runs/a_001/checkpoints/step-00000001/arrays-00000.h5";
        scene.server.set(shard, scene.server.objects().at(shard).substr(1));
        const Folder elsewhere;
        store::ObjectStore store(kRun, test_access(scene.server), kNoPatience);
        QVERIFY(error_of([&] {
                    fetch_checkpoint(store, find_remote(store, kRun), elsewhere.path());
                }).has_value());
        QVERIFY(!std::filesystem::exists(elsewhere.path() / folder_name(1)));
    }
};

WEFT_TEST(MirrorTest)
#include "mirror_test.moc"
