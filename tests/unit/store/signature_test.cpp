// SPDX-License-Identifier: Apache-2.0
// The oracle of signatures beside what Amazon publishes.
#include "tests/support/signature_v4.h"
#include "tests/support/weft_test.h"

using namespace weft::test;

class SignatureTest : public QObject {
    Q_OBJECT

private slots:
    // "Example: GET Object", Amazon S3 API Reference, Authenticating Requests.
    void the_published_example_has_the_published_signature() {
        const std::string empty =
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        WireRequest request{"GET", "/test.txt", {}, {}, ""};
        request.headers = {
            {"host", "examplebucket.s3.amazonaws.com"},
            {"range", "bytes=0-9"},
            {"x-amz-content-sha256", empty},
            {"x-amz-date", "20130524T000000Z"},
            {"authorization",
             "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
             "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
             "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"}};
        const std::string secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        QCOMPARE(signature_v4(request, secret),
                 std::string("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
        QCOMPARE(signature_problem(request, "AKIAIOSFODNN7EXAMPLE", secret), std::string());
        request.headers["range"] = "bytes=0-8";
        QCOMPARE(signature_problem(request, "AKIAIOSFODNN7EXAMPLE", secret),
                 std::string("the signature does not match"));
    }
};

WEFT_TEST(SignatureTest)
#include "signature_test.moc"
