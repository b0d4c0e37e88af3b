// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/store/object_store.h"
#include "core/store/xml.h"
#include "tests/support/error_of.h"
#include "tests/support/store_server.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <fstream>

using namespace weft;
using namespace weft::store;
using test::StoreServer;
using test::WireReply;
using test::WireRequest;

namespace {

constexpr std::int64_t kPart = 1 << 20;

Access access_to(const StoreServer& server) {
    return {server.endpoint(), "eu-test-1", StoreServer::kKeyId, StoreServer::kSecret, ""};
}

std::string bytes_of(std::size_t count) {
    std::string out(count, '\0');
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<char>(i * 31 + i / 251);
    }
    return out;
}

/// A store that loses no time, and its server.
struct Pair {
    StoreServer server;
    ObjectStore store{parse_address("s3://bucket"), access_to(server), {4, 0.001}};
};

} // namespace

class ObjectStoreTest : public QObject, private test::TestFolder {
    Q_OBJECT

    std::filesystem::path file_of(const std::string& content) {
        std::ofstream(path("upload"), std::ios::binary) << content;
        return path("upload");
    }

private slots:
    void what_is_put_is_found_read_listed_and_removed() {
        Pair pair;
        const std::string key = "runs/a b+c=1/é~(x).h5";
        pair.store.put(key, "content");
        const auto found = pair.store.find(key);
        QVERIFY2(found.has_value(), pair.server.bad_signatures().empty()
                                        ? ""
                                        : pair.server.bad_signatures()[0].c_str());
        QCOMPARE(found->bytes, 7);
        // md5 of "content", by coreutils' md5sum.
        QCOMPARE(found->etag, std::string("9a0364b9e99bb480dd25e1f0284c8555"));
        QCOMPARE(pair.store.get(key, 100), std::string("content"));
        QVERIFY(!pair.store.find("absent").has_value());
        pair.store.remove(key);
        pair.store.remove(key);
        QVERIFY(pair.server.objects().empty());
        QCOMPARE(pair.server.bad_signatures(), std::vector<std::string>());
    }

    void listings_come_in_pages() {
        Pair pair;
        pair.server.set_page(2);
        for (const char* name : {"a/1", "a/2", "a/3", "a/4", "a/5", "b/1"}) {
            pair.server.set(std::string("/bucket/") + name, "x");
        }
        const std::vector<ObjectInfo> all = pair.store.list("a/");
        QCOMPARE(all.size(), std::size_t(5));
        QCOMPARE(all.back().key, std::string("a/5"));
        QCOMPARE(all.back().bytes, 1);
        QCOMPARE(pair.server.bad_signatures(), std::vector<std::string>());
    }

    void large_files_go_and_come_in_parts() {
        Pair pair;
        const std::string content = bytes_of(3 * kPart + 12345);
        std::int64_t sent = 0;
        pair.store.put_file(
            "large", file_of(content), [&](std::int64_t bytes) { sent += bytes; }, kPart);
        QCOMPARE(sent, std::ssize(content));
        QVERIFY(pair.server.objects().at("/bucket/large") == content);
        QCOMPARE(pair.server.open_uploads(), std::size_t(0));
        const auto requests = pair.server.requests();
        QCOMPARE(std::count_if(requests.begin(), requests.end(),
                               [](const std::string& line) { return line.starts_with("PUT"); }),
                 4);
        pair.store.get_file(*pair.store.find("large"), path("back"), {}, kPart);
        QVERIFY(read_file(path("back")) == content);
        QCOMPARE(pair.server.bad_signatures(), std::vector<std::string>());
    }

    void a_busy_store_and_a_broken_connection_are_tried_again() {
        Pair pair;
        int faults = 0;
        pair.server.order([&](const WireRequest& request) -> std::optional<WireReply> {
            const bool second_part =
                request.query.contains("partNumber") && request.query.at("partNumber") == "2";
            if (second_part && faults < 2) {
                ++faults;
                return WireReply{503, "<Error><Code>SlowDown</Code></Error>"};
            }
            if (request.method == "GET" && faults < 4) {
                ++faults;
                return WireReply{206, bytes_of(1000), {}, 500}; // half of it
            }
            return std::nullopt;
        });
        const std::string content = bytes_of(2 * kPart);
        pair.store.put_file("x", file_of(content), {}, kPart);
        QCOMPARE(faults, 2);
        pair.store.get_file(*pair.store.find("x"), path("back"), {}, 2 * kPart);
        QCOMPARE(faults, 4);
        QVERIFY(read_file(path("back")) == content);
    }

    void an_upload_that_fails_leaves_nothing_behind() {
        Pair pair;
        pair.server.order([](const WireRequest& request) -> std::optional<WireReply> {
            return request.query.contains("partNumber") && request.query.at("partNumber") == "2"
                       ? std::optional(WireReply{500, ""})
                       : std::nullopt;
        });
        const auto fault = test::error_of(
            [&] { pair.store.put_file("x", file_of(bytes_of(2 * kPart)), {}, kPart); });
        QVERIFY(fault.has_value());
        QCOMPARE(fault->where(), std::string("s3://bucket/x"));
        QCOMPARE(pair.server.open_uploads(), std::size_t(0));
        QVERIFY(pair.server.objects().empty());
        const auto requests = pair.server.requests();
        QCOMPARE(std::count_if(requests.begin(), requests.end(),
                               [](const std::string& line) {
                                   return line.find("partNumber=2") != std::string::npos;
                               }),
                 4); // as often as it has patience
    }

    // "CompleteMultipartUpload", Amazon S3 API Reference: 200 may be followed by an error.
    void a_fault_after_200_is_a_fault() {
        Pair pair;
        int told = 0;
        pair.server.order([&](const WireRequest& request) -> std::optional<WireReply> {
            const bool completes = request.method == "POST" && request.query.contains("uploadId");
            return completes && told++ == 0
                       ? std::optional(WireReply{200, "<Error><Code>InternalError</Code></Error>"})
                       : std::nullopt;
        });
        pair.store.put_file("x", file_of(bytes_of(2 * kPart)), {}, kPart);
        QCOMPARE(told, 2);
        QCOMPARE(pair.server.objects().count("/bucket/x"), std::size_t(1));
    }

    void what_changes_while_it_is_read_is_not_taken() {
        Pair pair;
        pair.server.set("/bucket/x", bytes_of(2 * kPart));
        const ObjectInfo object = *pair.store.find("x");
        pair.server.set("/bucket/x", std::string(2 * kPart, 'y'));
        const auto fault =
            test::error_of([&] { pair.store.get_file(object, path("changed"), {}, kPart); });
        QVERIFY(fault.has_value());
        QVERIFY2(fault->text().find("412") != std::string::npos, fault->message().c_str());
        QVERIFY(!std::filesystem::exists(path("changed")));
    }

    void a_wrong_secret_is_told_and_not_repeated() {
        StoreServer server;
        Access access = access_to(server);
        access.secret = "another";
        ObjectStore store(parse_address("s3://bucket"), access, {4, 0.001});
        const auto fault = test::error_of([&] { store.put("x", "y"); });
        QVERIFY(fault.has_value());
        QVERIFY2(fault->text().find("SignatureDoesNotMatch") != std::string::npos,
                 fault->message().c_str());
        QVERIFY(fault->hint().find("credentials") != std::string::npos);
        QCOMPARE(server.requests().size(), std::size_t(1));
        QVERIFY(fault->message().find("another") == std::string::npos);
    }

    void a_session_token_is_signed() {
        StoreServer server;
        Access access = access_to(server);
        access.session_token = "a/long+token==";
        ObjectStore store(parse_address("s3://bucket"), access, {1, 0.001});
        store.put("x", "y");
        QCOMPARE(server.bad_signatures(), std::vector<std::string>());
    }

    void nobody_there_is_told() {
        Access access{"http://127.0.0.1:9", "r", "k", "s", ""};
        ObjectStore store(parse_address("s3://bucket"), access, {2, 0.001});
        const auto fault = test::error_of([&] { store.find("x"); });
        QVERIFY(fault.has_value());
        QVERIFY(fault->hint().find("AWS_ENDPOINT_URL") != std::string::npos);
    }

    void a_stop_ends_the_pauses() {
        StoreServer server;
        std::stop_source stop;
        server.order([&](const WireRequest&) {
            stop.request_stop();
            return std::optional(WireReply{503, ""});
        });
        ObjectStore store(parse_address("s3://bucket"), access_to(server), {10, 1000},
                          stop.get_token());
        const auto fault = test::error_of([&] { store.put("x", "y"); });
        QVERIFY(fault.has_value());
        QCOMPARE(fault->text(), std::string("stopped on request"));
    }

    void an_answer_longer_than_asked_for_is_refused() {
        Pair pair;
        pair.server.set("/bucket/x", bytes_of(100'000));
        QVERIFY(test::error_of([&] { pair.store.get("x", 1000); }).has_value());
        QCOMPARE(pair.server.requests().size(), std::size_t(1));
    }

    void documents_that_could_harm_are_refused() {
        QVERIFY(!read_xml("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "").has_value());
        QVERIFY(!read_xml("<a><b></a>", "").has_value());
        std::string deep;
        for (int i = 0; i < 100; ++i) {
            deep += "<a>";
        }
        QVERIFY(!read_xml(deep, "").has_value());
        const auto good = read_xml("<r xmlns=\"u\"><c><k>1&amp;2</k></c><t>3</t></r>", "c");
        QVERIFY(good.has_value());
        QCOMPARE(good->groups.at(0).at("k"), std::string("1&2"));
        QCOMPARE(good->rest.at("t"), std::string("3"));
    }
};

WEFT_TEST(ObjectStoreTest)
#include "object_store_test.moc"
