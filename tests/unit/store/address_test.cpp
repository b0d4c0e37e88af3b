// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/store/access.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <fstream>

using namespace weft;
using namespace weft::store;

namespace {

Lookup of(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
    };
}

} // namespace

class AddressTest : public QObject, private test::TestFolder {
    Q_OBJECT

private slots:
    void addresses_are_taken_apart() {
        const Address address = parse_address("s3://models/runs/a_001/");
        QCOMPARE(address.bucket, std::string("models"));
        QCOMPARE(address.key, std::string("runs/a_001"));
        QCOMPARE(address.name(), std::string("a_001"));
        QCOMPARE(address.below("manifest.json").text(),
                 std::string("s3://models/runs/a_001/manifest.json"));
        QCOMPARE(parse_address("gs://b").text(), std::string("gs://b"));
        QVERIFY(is_address("gs://x") && !is_address("/s3://x") && !is_address("https://x"));
        for (const char* bad : {"s3://", "s3:///key", "s3://b/a//c", "s3://b/../c", "s3://b/a/.",
                                "s3://b c/a", "s3://b/a\nb", "http://b/a"}) {
            QVERIFY2(test::error_of([&] { parse_address(bad); }).has_value(), bad);
        }
    }

    // RFC 3986, 2.1 and 2.3.
    void keys_are_encoded_as_urls_need_them() {
        QCOMPARE(percent_encoded("a b+c/d~é", Slash::kept), std::string("a%20b%2Bc/d~%C3%A9"));
        QCOMPARE(percent_encoded("a/b", Slash::encoded), std::string("a%2Fb"));
    }

    void the_environment_says_where_and_who() {
        const Access access =
            access_of(parse_address("s3://b"), of({{"AWS_ACCESS_KEY_ID", "K"},
                                                   {"AWS_SECRET_ACCESS_KEY", "S"},
                                                   {"AWS_ENDPOINT_URL", "http://localhost:9000/"},
                                                   {"AWS_REGION", "eu-west-1"}}));
        QCOMPARE(access.endpoint, std::string("http://localhost:9000"));
        QCOMPARE(access.region, std::string("eu-west-1"));
        QCOMPARE(access.key_id + access.secret + access.session_token, std::string("KS"));
        const Access google =
            access_of(parse_address("gs://b"),
                      of({{"AWS_ACCESS_KEY_ID", "K"}, {"AWS_SECRET_ACCESS_KEY", "S"}}));
        QCOMPARE(google.endpoint, std::string("https://storage.googleapis.com"));
    }

    void profiles_are_those_of_the_aws_command_line() {
        std::filesystem::create_directories(path(".aws"));
        std::ofstream(path(".aws/credentials"))
            << "[default]\naws_access_key_id = A\naws_secret_access_key=B\n\n"
               "[lab]\n# of the laboratory\naws_access_key_id=C\naws_secret_access_key = D==\n";
        std::ofstream(path(".aws/config")) << "[profile lab]\nregion = lab-1\n"
                                              "endpoint_url = https://store.lab\n";
        const std::string home = path("").string();
        const Access plain = access_of(parse_address("s3://b"), of({{"HOME", home}}));
        QCOMPARE(plain.key_id, std::string("A"));
        QCOMPARE(plain.endpoint, std::string("https://s3.us-east-1.amazonaws.com"));
        const Access lab =
            access_of(parse_address("s3://b"), of({{"HOME", home}, {"AWS_PROFILE", "lab"}}));
        QCOMPARE(lab.key_id + lab.secret + lab.region + lab.endpoint,
                 std::string("CD==lab-1https://store.lab"));
        // As botocore has it: what the environment says itself comes before a profile that it
        // names.
        const Access both =
            access_of(parse_address("s3://b"), of({{"HOME", home},
                                                   {"AWS_PROFILE", "lab"},
                                                   {"AWS_ACCESS_KEY_ID", "K"},
                                                   {"AWS_SECRET_ACCESS_KEY", "S"}}));
        QCOMPARE(both.key_id + both.secret + both.region, std::string("KSlab-1"));
    }

    void what_is_missing_is_told() {
        const auto nothing = test::error_of([&] {
            access_of(parse_address("s3://b/a"), of({{"HOME", path("none").string()}}));
        });
        QVERIFY(nothing.has_value());
        QVERIFY2(nothing->hint().find("AWS_ACCESS_KEY_ID") != std::string::npos,
                 nothing->message().c_str());
        QVERIFY(test::error_of([&] {
                    access_of(parse_address("s3://b"), of({{"AWS_ACCESS_KEY_ID", "K"},
                                                           {"AWS_SECRET_ACCESS_KEY", "S"},
                                                           {"AWS_ENDPOINT_URL", "localhost"}}));
                }).has_value());
        const auto secret = test::error_of([&] {
            access_of(parse_address("s3://b"), of({{"AWS_ENDPOINT_URL", "ftp://me:secret@host"}}));
        });
        QVERIFY(secret.has_value());
        QVERIFY(secret->text().find("secret") == std::string::npos);
        const auto strange = test::error_of([&] { parse_address("s3://b\x1b[31m/k"); });
        QVERIFY(strange.has_value());
        QVERIFY((strange->where() + strange->text()).find('\x1b') == std::string::npos);
    }
};

WEFT_TEST(AddressTest)
#include "address_test.moc"
