/* SPDX-License-Identifier: MIT */
/* Reads what generic C++ keeps by itself: classes that know their derived class by a
 * template's argument, small vectors with room inside, erased types, a flat hash table,
 * counted references, trees of owners, tuples, variants that are visited, and, where the
 * compiler has them, frames of coroutines. */
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#if __has_include(<coroutine>) && defined(__cpp_impl_coroutine)
#include <coroutine>
#define COROUTINES
#endif

#include "truth.h"

#define NOINLINE __attribute__((noinline))

static volatile uint64_t result;

enum { COUNT = 300, ROUNDS = 20 };

#define SAY(type, member, also)                                                          \
        truth_field(#type, #member, offsetof(type, member),                              \
                    sizeof(((type *)nullptr)->member), also)

/* ---- the derived class as an argument ---- */

template <class derived> struct shape {
        int colour = 1;
        double scaled() const
        {
                return static_cast<const derived *>(this)->area() * colour;
        }
};

struct square : shape<square> {
        double side = 2;
        double area() const
        {
                return side * side;
        }
};

struct disc : shape<disc> {
        float radius = 3;
        long label = 4;
        double area() const
        {
                return (double)(radius * 3) + (double)label;
        }
};

template <class kind> NOINLINE static std::vector<kind> make_shapes()
{
        return std::vector<kind>(COUNT);
}

template <class kind> NOINLINE static double sum_shapes(const std::vector<kind> &all)
{
        double sum = 0;

        for (const kind &each : all)
                sum += each.scaled();
        return sum;
}

/* ---- a small vector ---- */

struct edge {
        int to;
        float weight;
};

template <class item, unsigned room> class small_vector
{
      public:
        small_vector() = default;
        small_vector(small_vector &&other) noexcept
            : count(other.count), capacity(other.capacity)
        {
                std::memcpy(inside, other.inside, sizeof(inside));
                at = other.at == other.own() ? own() : other.at;
                other.at = other.own();
                other.count = 0;
        }
        ~small_vector()
        {
                if (at != own())
                        std::free(at);
        }
        void push(const item &value)
        {
                if (count == capacity)
                        grow();
                new (at + count++) item(value);
        }
        const item *begin() const
        {
                return at;
        }
        const item *end() const
        {
                return at + count;
        }
        item *own()
        {
                return reinterpret_cast<item *>(inside);
        }

        uint32_t count = 0, capacity = room;
        item *at = own();
        alignas(item) unsigned char inside[room * sizeof(item)];

      private:
        NOINLINE void grow()
        {
                item *more = (item *)std::malloc(2 * capacity * sizeof(item));

                std::memcpy(more, at, count * sizeof(item));
                if (at != own())
                        std::free(at);
                at = more;
                capacity *= 2;
        }
};

struct vertex {
        long id;
        small_vector<edge, 4> edges;
};

NOINLINE static std::vector<vertex> make_vertices()
{
        std::vector<vertex> all(COUNT);

        for (int i = 0; i < COUNT; i++) {
                all[(size_t)i].id = i;
                for (int j = 0; j < (i % 3 == 0 ? 8 : 4); j++)
                        all[(size_t)i].edges.push({(i * 7 + j) % COUNT, 0.5f});
        }
        return all;
}

NOINLINE static double sum_edges(const std::vector<vertex> &all)
{
        double sum = 0;

        for (const vertex &v : all)
                for (const edge &e : v.edges)
                        sum += (double)e.weight * (double)all[(size_t)e.to].id;
        return sum;
}

/* ---- an erased type ---- */

class job
{
        struct base {
                virtual ~base() = default;
                virtual long run(long) const = 0;
                long runs = 1;
        };
        template <class work> struct holder : base {
                work held;
                explicit holder(work w) : held(std::move(w))
                {
                }
                NOINLINE long run(long n) const override
                {
                        return held(n) + runs;
                }
        };

      public:
        template <class work> explicit job(work w) : it(new holder<work>(std::move(w)))
        {
        }
        long operator()(long n) const
        {
                return it->run(n);
        }
        template <class work> static size_t held_at()
        {
                auto *none = reinterpret_cast<holder<work> *>(4096);

                return (size_t)(reinterpret_cast<char *>(&none->held) -
                                reinterpret_cast<char *>(none));
        }
        std::unique_ptr<base> it;
};

struct adder {
        long first, second;
        long operator()(long n) const
        {
                return first + second * n;
        }
};

NOINLINE static std::vector<job> make_jobs()
{
        std::vector<job> jobs;

        jobs.reserve(COUNT);
        for (long i = 0; i < COUNT; i++)
                jobs.emplace_back(adder{i, i * 2});
        return jobs;
}

NOINLINE static long run_jobs(const std::vector<job> &jobs)
{
        long sum = 0;

        for (const job &each : jobs)
                sum += each(sum & 7);
        return sum;
}

/* ---- a flat hash table ---- */

template <class key, class value> struct flat_map {
        struct slot {
                key first;
                value second;
        };
        std::unique_ptr<int8_t[]> control;
        std::unique_ptr<slot[]> slots;
        size_t mask;

        explicit flat_map(size_t size)
            : control(new int8_t[size]), slots(new slot[size]), mask(size - 1)
        {
                std::memset(control.get(), -128, size);
        }
        static size_t hash(key k)
        {
                return (size_t)k * UINT64_C(0x9e3779b97f4a7c15);
        }
        void put(key k, const value &v)
        {
                size_t at = hash(k) >> 20 & mask;

                while (control[at] >= 0)
                        at = (at + 1) & mask;
                control[at] = (int8_t)(hash(k) & 127);
                slots[at] = slot{k, v};
        }
        const value *find(key k) const
        {
                int8_t tag = (int8_t)(hash(k) & 127);

                for (size_t at = hash(k) >> 20 & mask; control[at] != -128;
                     at = (at + 1) & mask)
                        if (control[at] == tag && slots[at].first == k)
                                return &slots[at].second;
                return nullptr;
        }
};

struct account {
        double balance;
        int branch;
        short kind;
};

using accounts = flat_map<long, account>;

NOINLINE static accounts make_accounts()
{
        accounts all(1024);

        for (long i = 0; i < COUNT; i++)
                all.put(i * 13, account{(double)i, (int)i, (short)i});
        return all;
}

NOINLINE static double sum_accounts(const accounts &all)
{
        double sum = 0;

        for (long i = 0; i < COUNT; i++)
                if (const account *found = all.find(i * 13))
                        sum += found->balance + found->branch;
        return sum;
}

/* ---- counted references ---- */

template <class held> class ref
{
      public:
        explicit ref(held *p) : at(p)
        {
                at->count++;
        }
        ref(const ref &other) : at(other.at)
        {
                at->count++;
        }
        ref(ref &&other) noexcept : at(std::exchange(other.at, nullptr))
        {
        }
        ~ref()
        {
                if (at && --at->count == 0)
                        delete at;
        }
        held *operator->() const
        {
                return at;
        }
        held *at;
};

struct texture {
        int count = 0;
        int width = 5, height = 6;
        std::vector<uint32_t> pixels = std::vector<uint32_t>(16);
};

NOINLINE static std::vector<ref<texture>> make_textures()
{
        std::vector<ref<texture>> all;

        all.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                all.push_back(ref<texture>(new texture));
        return all;
}

NOINLINE static long sum_textures(const std::vector<ref<texture>> &all)
{
        long sum = 0;

        for (ref<texture> each : all)
                sum += each->width * each->height + (long)each->pixels[3];
        return sum;
}

/* ---- a tree of owners ---- */

struct tree {
        std::unique_ptr<tree> left, right;
        int key;
        std::pair<long, float> load;
};

NOINLINE static std::unique_ptr<tree> make_tree(int low, int high)
{
        if (low >= high)
                return nullptr;
        auto made = std::make_unique<tree>();

        made->key = (low + high) / 2;
        made->load = {made->key, 0.5f};
        made->left = make_tree(low, made->key);
        made->right = make_tree(made->key + 1, high);
        truth_object("heap", "make_tree at ", "tree", made.get(), sizeof(tree), 1, "*");
        return made;
}

NOINLINE static double find_in_tree(const tree *at, int key)
{
        while (at && at->key != key)
                at = key < at->key ? at->left.get() : at->right.get();
        return at ? (double)at->load.first + (double)at->load.second : 0;
}

/* ---- tuples and variants ---- */

using row = std::tuple<int, double, long>;

NOINLINE static std::vector<row> make_rows()
{
        std::vector<row> rows;

        rows.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                rows.emplace_back(i, i * 0.5, i * 3L);
        return rows;
}

NOINLINE static double sum_rows(const std::vector<row> &rows)
{
        double sum = 0;

        for (const row &r : rows)
                sum += std::get<0>(r) + std::get<1>(r) + (double)std::get<2>(r);
        return sum;
}

struct number {
        long value;
};

struct negation {
        int of;
};

struct product {
        int left, right;
};

using expression = std::variant<number, negation, product>;

NOINLINE static std::vector<expression> make_expressions()
{
        std::vector<expression> all;

        all.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                if (i < 10 || i % 3 == 0)
                        all.emplace_back(number{i});
                else if (i % 3 == 1)
                        all.emplace_back(negation{i - 1});
                else
                        all.emplace_back(product{i - 1, i - 2});
        return all;
}

struct evaluate {
        const std::vector<long> &known;
        long operator()(const number &n) const
        {
                return n.value;
        }
        long operator()(const negation &n) const
        {
                return -known[(size_t)n.of];
        }
        long operator()(const product &p) const
        {
                return known[(size_t)p.left] * known[(size_t)p.right] % 1000;
        }
};

NOINLINE static long evaluate_all(const std::vector<expression> &all,
                                  std::vector<long> &known)
{
        for (size_t i = 0; i < all.size(); i++)
                known[i] = std::visit(evaluate{known}, all[i]);
        return known.back();
}

/* ---- coroutines ---- */

#ifdef COROUTINES
struct generator {
        struct promise_type {
                long current = 0;
                generator get_return_object()
                {
                        return generator{
                            std::coroutine_handle<promise_type>::from_promise(*this)};
                }
                std::suspend_always initial_suspend() noexcept
                {
                        return {};
                }
                std::suspend_always final_suspend() noexcept
                {
                        return {};
                }
                std::suspend_always yield_value(long value) noexcept
                {
                        current = value;
                        return {};
                }
                void return_void()
                {
                }
                void unhandled_exception()
                {
                }
        };
        std::coroutine_handle<promise_type> handle;
};

NOINLINE static generator count_up(long from, long step)
{
        for (long n = from;; n += step)
                co_yield n;
}

NOINLINE static long sum_generators(const std::vector<generator> &all)
{
        long sum = 0;

        for (const generator &each : all) {
                each.handle.resume();
                sum += each.handle.promise().current;
        }
        return sum;
}
#endif

/* ---- the truth ---- */

static void say_fields()
{
        square s;
        disc d;
        tree t{};
        row r;
        auto at = [](const void *whole, const void *part) {
                return (size_t)((const char *)part - (const char *)whole);
        };

        truth_field("square", "colour", at(&s, &s.colour), 4, "shape<square>:colour");
        truth_field("square", "side", at(&s, &s.side), 8, "");
        truth_field("disc", "colour", at(&d, &d.colour), 4, "shape<disc>:colour");
        truth_field("disc", "radius", at(&d, &d.radius), 4, "");
        truth_field("disc", "label", at(&d, &d.label), 8, "");
        truth_field("vertex", "id", 0, 8, "");
        truth_field("vertex", "edges.count", 8, 4, "small_vector<*:count");
        truth_field("vertex", "edges.capacity", 12, 4, "small_vector<*:capacity");
        truth_field("vertex", "edges.at", 16, 8, "small_vector<*:at");
        SAY(edge, to, "");
        SAY(edge, weight, "");
        size_t held = job::held_at<adder>();

        truth_field("job", "_vptr.base", 0, 8,
                    "job::base:_vptr.base job::base:_vptr$base "
                    "job::holder<*:_vptr.base job::holder<*:_vptr$base");
        truth_field("job", "runs", 8, 8, "job::base:runs job::holder<*:runs");
        truth_field("job", "first", held, 8, "adder:first job::holder<*:held.first");
        truth_field("job", "second", held + 8, 8,
                    "adder:second job::holder<*:held.second");
        truth_field("control", "", 0, 1, "int8_t: signed~char:");
        size_t second = offsetof(accounts::slot, second);

        truth_field("slot", "first", 0, 8, "flat_map<*:first");
        truth_field("slot", "second.balance", second, 8,
                    "account:balance flat_map<*:second.balance");
        truth_field("slot", "second.branch", second + 8, 4,
                    "account:branch flat_map<*:second.branch");
        SAY(texture, count, "");
        SAY(texture, width, "");
        SAY(texture, height, "");
        truth_field(
            "texture", "pixels", offsetof(texture, pixels), 8,
            "texture:pixels._M_impl._M_start texture:pixels.__begin_ "
            "std::vector<*:_M_impl._M_start std::_Vector_base<*:_M_impl._M_start");
        truth_field("pixel", "", 0, 4, "uint32_t: unsigned~int:");
        truth_field("tree", "left", 0, 8,
                    "tree:left._M_t._M_t._M_head_impl tree:left._M_t.[_M_t]._M_head_impl "
                    "std::unique_ptr<*:_M_t._M_t._M_head_impl tree:left._M_t "
                    "std::__uniq_ptr_impl<*:_M_t._M_head_impl "
                    "std::_Head_base<*:_M_head_impl "
                    "std::_Tuple_impl<*:_M_head_impl std::tuple<*:_M_head_impl");
        truth_field(
            "tree", "right", 8, 8,
            "tree:right._M_t._M_t._M_head_impl std::unique_ptr<*:_M_t._M_t._M_head_impl "
            "std::__uniq_ptr_impl<*:_M_t._M_head_impl "
            "std::_Head_base<*:_M_head_impl "
            "std::_Tuple_impl<*:_M_head_impl std::tuple<*:_M_head_impl");
        truth_field("tree", "key", at(&t, &t.key), 4, "");
        truth_field("tree", "load.first", at(&t, &t.load.first), 8, "std::pair<*:first");
        truth_field("tree", "load.second", at(&t, &t.load.second), 4,
                    "std::pair<*:second");
        truth_field("row", "0", at(&r, &std::get<0>(r)), 4,
                    "std::tuple<*:std::_Head_base<0,~int,~false>::_M_head_impl "
                    "std::tuple<*:std::_Head_base<0UL,~int,~false>::_M_head_impl "
                    "std::_Head_base<*:_M_head_impl int:");
        truth_field("row", "1", at(&r, &std::get<1>(r)), 8,
                    "std::tuple<*:std::_Head_base<1,~double,~false>::_M_head_impl "
                    "std::tuple<*:std::_Head_base<1UL,~double,~false>::_M_head_impl "
                    "std::_Head_base<*:_M_head_impl double:");
        truth_field("row", "2", at(&r, &std::get<2>(r)), 8,
                    "std::tuple<*:std::_Tuple_impl<2,~long~int>::_M_head_impl "
                    "std::tuple<*:std::_Tuple_impl<2UL,~long>::_M_head_impl "
                    "std::_Head_base<*:_M_head_impl std::_Tuple_impl<2*:_M_head_impl "
                    "long:");
        truth_field("expression", "index", sizeof(expression) - 8, 1,
                    "std::variant<*:_M_index "
                    "std::__detail::__variant::_Variant_storage<*:_M_index");
        truth_field(
            "number", "value", 0, 8,
            "std::variant<*:_M_u._M_first._M_storage.value "
            "std::__detail::__variant::_Variadic_union<*:_M_first._M_storage.value "
            "std::__detail::__variant::_Uninitialized<*:_M_storage.value");
        truth_field(
            "negation", "of", 0, 4,
            "std::variant<*:_M_u._M_rest._M_first._M_storage.of "
            "std::__detail::__variant::_Variadic_union<*:_M_first._M_storage.of "
            "std::__detail::__variant::_Variadic_union<*:_M_rest._M_first._M_storage.of "
            "std::__detail::__variant::_Uninitialized<*:_M_storage.of");
        for (const char *member : {"left", "right"}) {
                std::string also;

                for (const char *before :
                     {"std::variant<*:_M_u._M_rest._M_rest._M_first._M_storage.",
                      "std::__detail::__variant::_Variadic_union<*:_M_first._M_storage.",
                      "std::__detail::__variant::_Variadic_union<*:_M_rest._M_first._M_"
                      "storage.",
                      "std::__detail::__variant::_Variadic_union<*:_M_rest._M_rest._M_"
                      "first._M_"
                      "storage.",
                      "std::__detail::__variant::_Uninitialized<*:_M_storage."})
                        also += std::string(also.empty() ? "" : " ") + before + member;
                truth_field("product", member, *member == 'l' ? 0 : 4, 4, also.c_str());
        }
        truth_field("known", "", 0, 8, "long: long~int:");
}

template <class kind>
static void say_items(const char *site, const char *type, const kind &all)
{
        truth_object("heap", site, type, &all[0], sizeof(all[0]), all.size(), "*");
}

int main()
{
        truth_open();
        say_fields();
        auto squares = make_shapes<square>();
        auto discs = make_shapes<disc>();
        auto vertices = make_vertices();
        auto jobs = make_jobs();
        auto all = make_accounts();
        auto textures = make_textures();
        auto root = make_tree(0, COUNT);
        auto rows = make_rows();
        auto expressions = make_expressions();
        std::vector<long> known(COUNT);

        say_items("make_shapes<square> at ", "square", squares);
        say_items("make_shapes<disc> at ", "disc", discs);
        say_items("make_vertices at ", "vertex", vertices);
        for (const vertex &v : vertices)
                if (v.edges.count > 4)
                        truth_object("heap", "small_vector<edge, 4u>::grow at ", "edge",
                                     v.edges.at, sizeof(edge), v.edges.count, "*");
                else
                        truth_object("heap", "make_vertices at ", "edge", v.edges.at,
                                     sizeof(edge), v.edges.count, "*");
        for (const job &each : jobs)
                truth_object("heap", "job::job<adder> at ", "job", each.it.get(),
                             job::held_at<adder>() + sizeof(adder), 1, "*");
        truth_object("heap", "flat_map<long, account>::flat_map at ", "control",
                     all.control.get(), 1, 1024, "*");
        truth_object("heap", "flat_map<long, account>::flat_map at ", "slot",
                     all.slots.get(), sizeof(accounts::slot), 1024, "*");
        for (const ref<texture> &each : textures) {
                truth_object("heap", "make_textures at ", "texture", each.at,
                             sizeof(texture), 1, "*");
                truth_object("heap", "texture::texture at ", "pixel", each->pixels.data(),
                             4, 16, "*");
        }
        say_items("make_rows at ", "row", rows);
        say_items("make_expressions at ", "expression", expressions);
        for (const expression &e : expressions)
                if (const number *n = std::get_if<number>(&e))
                        truth_object("heap", "make_expressions at ", "number", n,
                                     sizeof(*n), 1, "*");
                else if (const negation *m = std::get_if<negation>(&e))
                        truth_object("heap", "make_expressions at ", "negation", m,
                                     sizeof(*m), 1, "*");
                else if (const product *p = std::get_if<product>(&e))
                        truth_object("heap", "make_expressions at ", "product", p,
                                     sizeof(*p), 1, "*");
        say_items("main at ", "known", known);
#ifdef COROUTINES
        std::vector<generator> generators;

        generators.reserve(COUNT);
        for (long i = 0; i < COUNT; i++) {
                generators.push_back(count_up(i, i + 1));
                auto &promise = generators.back().handle.promise();

                truth_field("frame", "promise", 16, 8,
                            "generator::promise_type:current "
                            "_ZL8count_up*:_Coro_promise.current");
                truth_object("heap", "count_up at ", "frame",
                             generators.back().handle.address(),
                             (size_t)((char *)&promise -
                                      (char *)generators.back().handle.address()) +
                                 8,
                             1, "sum_generators");
        }
        say_items("main at ", "generator", generators);
        truth_field(
            "generator", "handle", 0, 8,
            "generator:handle._M_fr_ptr std::__n4861::coroutine_handle<*:_M_fr_ptr "
            "std::coroutine_handle<*:_M_fr_ptr");
#endif
        for (int i = 0; i < ROUNDS; i++) {
                double sum = sum_shapes(squares) + sum_shapes(discs) +
                             sum_edges(vertices) + sum_accounts(all) + sum_rows(rows);

                for (int j = 0; j < COUNT; j++)
                        sum += find_in_tree(root.get(), j);
                result = result + (uint64_t)sum;
                result = result + (uint64_t)(run_jobs(jobs) + sum_textures(textures) +
                                             evaluate_all(expressions, known));
#ifdef COROUTINES
                result = result + (uint64_t)sum_generators(generators);
#endif
        }
        truth_close();
        return 0;
}
