/* SPDX-License-Identifier: MIT */
/* Non-temporal stores as the assembler encodes them, and similar instructions. */
#include "nontemporal.h"
#include "unit_test.h"

struct encoded {
        const char *bytes;
        size_t length;
};

#define CODE(text)                                                                       \
        {                                                                                \
                (text), sizeof(text) - 1                                                 \
        }

static bool is_store(struct encoded code)
{
        return nontemporal_store_decode((const uint8_t *)code.bytes,
                                        (uint32_t)code.length);
}

/* By GNU as 2.40. */
TEST(stores_of_every_form_are_told_from_others)
{
        static const struct encoded stores[] = {
            CODE("\x0f\xc3\x07"),             /* movnti %eax,(%rdi) */
            CODE("\x4c\x0f\xc3\x47\x08"),     /* movnti %r8,8(%rdi) */
            CODE("\x0f\xe7\x07"),             /* movntq %mm0,(%rdi) */
            CODE("\x0f\x2b\x04\x37"),         /* movntps %xmm0,(%rdi,%rsi) */
            CODE("\x66\x0f\x2b\x07"),         /* movntpd %xmm0,(%rdi) */
            CODE("\x66\x44\x0f\xe7\x0f"),     /* movntdq %xmm9,(%rdi) */
            CODE("\xc5\xf8\x2b\x07"),         /* vmovntps %xmm0,(%rdi) */
            CODE("\xc5\xfd\x2b\x07"),         /* vmovntpd %ymm0,(%rdi) */
            CODE("\xc5\xfd\xe7\x07"),         /* vmovntdq %ymm0,(%rdi) */
            CODE("\xc4\xc1\x7d\xe7\x45\x00"), /* vmovntdq %ymm0,0(%r13) */
            CODE("\x64\x66\x0f\xe7\x07"),     /* movntdq %xmm0,%fs:(%rdi) */
        };
        static const struct encoded others[] = {
            CODE("\x66\x0f\x7f\x07"),     /* movdqa %xmm0,(%rdi) */
            CODE("\x66\x0f\x38\x2a\x07"), /* movntdqa (%rdi),%xmm0 */
            CODE("\xc4\xe2\x7d\x2a\x07"), /* vmovntdqa (%rdi),%ymm0 */
            CODE("\xf3\x0f\xe6\x07"),     /* cvtdq2pd (%rdi),%xmm0 */
            CODE("\xc5\xfd\xd7\xc0"),     /* vpmovmskb %ymm0,%eax */
            CODE("\x0f\x2a\x07"),         /* cvtpi2ps (%rdi),%xmm0 */
            CODE("\xc3"),                 /* ret */
            CODE("\x66\x0f\xe7"),         /* cut off */
            CODE("\xc5\xfd\xe7"),
        };
        for (size_t i = 0; i < LENGTH(stores); i++)
                assert_true(is_store(stores[i]));
        for (size_t i = 0; i < LENGTH(others); i++)
                assert_false(is_store(others[i]));
}
