/* Requests as `watch` reads them: what is good, and why each other one is refused; cut at every byte. */
#include "check.h"
#include "tools/watch/board.h"

#define HOST "Host: 127.0.0.1:8000\r\n"

static int status(const char *text, abut_http_request *r) { return abut_http_read(text, strlen(text), 8000, r); }

TEST(a_good_request_is_known_by_its_last_byte_and_not_before)
{
    static const char *const good[] = { "GET / HTTP/1.1\r\n" HOST "\r\n",
                                        "GET /status?frames=3 HTTP/1.0\r\nAccept: */*\r\n" HOST "\r\n",
                                        ("HEAD /frame/7 HTTP/1.1\r\nhost:\tLOCALHOST:8000 \r\nContent-Length: 0\r\n"
                                         "X: a b\r\n\r\n") };
    static const char *const target[] = { "/", "/status?frames=3", "/frame/7" };
    abut_http_request r;
    for (int i = 0; i < 3; i++) {
        for (size_t n = 0; n < strlen(good[i]); n++) CHECK(abut_http_read(good[i], n, 8000, &r) == 0);
        CHECK(status(good[i], &r) == 200);
        CHECK(!strcmp(r.target, target[i]) && r.head_only == (i == 2));
    }
}

TEST(every_other_request_is_refused_for_its_reason)
{
    static const struct {
        const char *text;
        int status;
    } bad[] = {
        { "POST / HTTP/1.1\r\n" HOST "\r\n", 405 },
        { "DELETE /frame/0 HTTP/1.1\r\n" HOST "\r\n", 405 },
        { "get / HTTP/1.1\r\n" HOST "\r\n", 405 },
        { "GET / HTTP/1.1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403 },
        { "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 403 },
        { "GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", 403 },
        { "GET / HTTP/1.1\r\nHost: 127.0.0.1:8000.evil.example\r\n\r\n", 403 },
        { "GET / HTTP/1.1\r\nHost: localhost:8000@evil\r\n\r\n", 403 },
        { "GET / HTTP/2.0\r\n" HOST "\r\n", 505 },
        { "GET / HTTP/1.1 \r\n" HOST "\r\n", 400 },
        { "GET  / HTTP/1.1\r\n" HOST "\r\n", 400 },
        { "GET http://a/ HTTP/1.1\r\n" HOST "\r\n", 400 },
        { "GET /\x01 HTTP/1.1\r\n" HOST "\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST "Broken\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST " folded: a\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST "A: \x02\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello", 413 },
        { "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 413 },
        { "\r\n\r\n", 400 },
        { "\x16\x03\x01\r\n", 400 },
        { "GET\r\n\r\n", 400 },
        { "GET /\r\n\r\n", 400 },
    };
    abut_http_request r;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const int got = status(bad[i].text, &r);
        if (got != bad[i].status) printf("# request %zu: %d, expected %d\n", i, got, bad[i].status);
        CHECK(got == bad[i].status);
    }
}

TEST(what_is_too_long_is_refused_while_it_comes)
{
    char text[ABUT_HTTP_REQUEST_MAX + 1];
    abut_http_request r;
    memset(text, 'a', sizeof text);
    memcpy(text, "GET /", 5);
    CHECK(abut_http_read(text, ABUT_HTTP_REQUEST_MAX - 1, 8000, &r) == 0);
    CHECK(abut_http_read(text, ABUT_HTTP_REQUEST_MAX, 8000, &r) == 431);
    memcpy(text + 1000, " HTTP/1.1\r\n", 11);
    CHECK(abut_http_read(text, 2000, 8000, &r) == 414);
    memcpy(text, "GET / HTTP/1.1\r\nA: ", 19);
    memset(text + 1000, 'a', 11);
    CHECK(abut_http_read(text, ABUT_HTTP_REQUEST_MAX, 8000, &r) == 431);
}

TEST(bytes_at_random_are_never_a_good_request)
{
    unsigned long long s = 7;
    abut_http_request r;
    char text[64];
    for (int i = 0; i < 20000; i++) {
        for (size_t k = 0; k < sizeof text; k++) {
            s = s * 6364136223846793005ull + 1442695040888963407ull;
            text[k] = (char)(s >> 56);
        }
        if (i % 2) memcpy(text, "GET / HTTP/1.1\r\n", 16);
        CHECK(abut_http_read(text, sizeof text, 8000, &r) != 200);
    }
}

TEST(numbers_of_a_query_are_decimal_and_bounded)
{
    CHECK(abut_http_number("/status?frames=12&models=0", "frames") == 12);
    CHECK(abut_http_number("/status?frames=12&models=0", "models") == 0);
    CHECK(abut_http_number("/status?frames=2147483647", "frames") == 2147483647);
    CHECK(abut_http_number("/status?frames=2147483648", "frames") == -1);
    CHECK(abut_http_number("/status?frames=99999999999999999999999", "frames") == -1);
    CHECK(abut_http_number("/status?frames=-1", "frames") == -1);
    CHECK(abut_http_number("/status?frames=1x", "frames") == -1);
    CHECK(abut_http_number("/status?frames=", "frames") == -1);
    CHECK(abut_http_number("/status?xframes=1", "frames") == -1);
    CHECK(abut_http_number("/status", "frames") == -1);
}
