/* SPDX-License-Identifier: MIT */
/* Reads the data structures of optimised C++. They are containers of the library, shared
 * and variant objects, captures of lambdas and strings inside objects. Others are classes
 * with several and with virtual bases, and containers in memory resources. The program
 * itself prints the addresses of the elements. */
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <variant>
#include <vector>

#include "truth.h"

#define NOINLINE __attribute__((noinline))

static volatile uint64_t result;

enum { COUNT = 300, ROUNDS = 20 };

struct sale {
        long amount;
        int item;
        short shop;
        double rebate;
};

static sale sale_of(int i)
{
        return {i * 7L, i, (short)(i % 11), i * 0.5};
}

#define SAY(type, member, also)                                                          \
        truth_field(#type, #member, offsetof(type, member),                              \
                    sizeof(((type *)nullptr)->member), also)

/* ---- sequences ---- */

NOINLINE static std::deque<sale> make_deque()
{
        std::deque<sale> sales;

        for (int i = 0; i < COUNT; i++)
                sales.push_back(sale_of(i));
        return sales;
}

ADDS_EACH(double, sum_deque, (const std::deque<sale> &sales), s, sales,
          s.rebate + (double)s.amount)

ADDS(long, pick_deque, (const std::deque<sale> &sales, size_t step),
     (size_t i = 0; i < sales.size(); i += step),
     sales[i].item + sales[sales.size() - 1 - i].shop)

/* ---- owned, shared and of several kinds ---- */

NOINLINE static std::vector<std::shared_ptr<sale>> make_shared_sales()
{
        std::vector<std::shared_ptr<sale>> sales;

        sales.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                sales.push_back(std::make_shared<sale>(sale_of(i)));
        return sales;
}

ADDS_EACH(double, sum_shared, (const std::vector<std::shared_ptr<sale>> &sales), s, sales,
          s->rebate + s->item)

struct circle {
        double radius;
        int colour;
};

struct box {
        float width, height;
        long weight;
};

using shape = std::variant<circle, box>;

NOINLINE static std::vector<shape> make_shapes()
{
        std::vector<shape> shapes;

        shapes.reserve(COUNT);
        for (int i = 0; i < COUNT; i++) {
                if (i % 3)
                        shapes.emplace_back(circle{i * 1.0, i});
                else
                        shapes.emplace_back(box{1.0f, 2.0f, i});
        }
        return shapes;
}

NOINLINE static double area_of(const std::vector<shape> &shapes)
{
        double sum = 0;

        for (const shape &s : shapes)
                if (const circle *c = std::get_if<circle>(&s))
                        sum += c->radius + c->colour;
                else if (const box *b = std::get_if<box>(&s))
                        sum += (double)(b->width * b->height) + (double)b->weight;
        return sum;
}

/* ---- captures ---- */

/* Too large for std::function itself, which allocates room for it. */
static auto make_scale(long scale, long shift, long limit)
{
        long extra = 1;

        return [scale, shift, limit, extra](long value) {
                return value * scale + shift < limit ? extra : limit;
        };
}

using scaling = decltype(make_scale(0, 0, 0));

NOINLINE static std::vector<std::function<long(long)>> make_functions()
{
        std::vector<std::function<long(long)>> functions;

        functions.reserve(COUNT);
        for (long i = 0; i < COUNT; i++)
                functions.emplace_back(make_scale(i, i * 3, i * 5));
        return functions;
}

ADDS_EACH(long, call_all, (const std::vector<std::function<long(long)>> &functions),
          function, functions, function(sum & 15))

/* ---- classes ---- */

struct counted {
        int uses = 1;
        long born = 2;
};

struct named {
        virtual ~named() = default;
        virtual int kind() const = 0;
        long serial = 3;
};

struct machine : counted, named {
        double power = 4;
        NOINLINE int kind() const override
        {
                return (int)(power + (double)serial) + uses;
        }
};

NOINLINE static std::vector<machine *> make_machines()
{
        std::vector<machine *> machines;

        machines.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                machines.push_back(new machine);
        return machines;
}

ADDS_EACH(long, ask_machines, (const std::vector<machine *> &machines), m, machines,
          m->born + static_cast<const named *>(m)->kind())

struct device {
        virtual ~device() = default;
        long address = 5;
};

struct input : virtual device {
        long keys = 6;
};

struct output : virtual device {
        double pixels = 7;
};

struct terminal : input, output {
        int speed = 8;
};

NOINLINE static std::vector<std::unique_ptr<terminal>> make_terminals()
{
        std::vector<std::unique_ptr<terminal>> terminals;

        terminals.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                terminals.push_back(std::make_unique<terminal>());
        return terminals;
}

ADDS_EACH(double, sum_terminals, (const std::vector<std::unique_ptr<terminal>> &all), t,
          all, (double)t->keys + t->pixels + t->speed)

ADDS_EACH(long, sum_addresses, (const std::vector<std::unique_ptr<terminal>> &all), t,
          all, t->address)

/* ---- members of one name ---- */

struct paid {
        long amount = 9;
        double tax = 10;
};

struct owed {
        double amount = 11;
        long since = 12;
};

struct account : paid, owed {
        int amount = 13;
};

/* As the elements of a std::tuple are. */
template <int number, class element> struct part {
        element value{};
};

template <class first, class... others>
struct parts : parts<others...>, part<(int)sizeof...(others), first> {
};

template <class last> struct parts<last> : part<0, last> {
};

using record = parts<long, double, short>;

NOINLINE static std::vector<account> make_accounts()
{
        return std::vector<account>(COUNT);
}

ADDS_EACH(double, sum_accounts, (const std::vector<account> &accounts), a, accounts,
          (double)a.paid::amount + a.owed::amount + a.amount + a.tax + (double)a.since)

NOINLINE static std::vector<record> make_records()
{
        return std::vector<record>(COUNT);
}

ADDS_EACH(double, sum_records, (const std::vector<record> &records), r, records,
          (double)r.part<2, long>::value + r.part<1, double>::value +
              r.part<0, short>::value)

/* ---- strings inside ---- */

struct person {
        std::string name; /* short: the letters lie in it */
        long age;
};

NOINLINE static std::vector<person> make_people()
{
        std::vector<person> people;

        people.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                people.push_back({std::string((size_t)(3 + i % 8), 'x'), i});
        return people;
}

ADDS_EACH(long, sum_people, (const std::vector<person> &people), p, people,
          p.age + p.name[1] + (long)p.name.size())

/* ---- memory resources ---- */

struct arena {
        std::pmr::monotonic_buffer_resource memory{1 << 16};
        std::pmr::vector<sale> sales{&memory};
        std::pmr::map<int, sale> sorted{&memory};
};

NOINLINE static std::unique_ptr<arena> make_arena()
{
        auto made = std::make_unique<arena>();

        made->sales.reserve(COUNT);
        for (int i = 0; i < COUNT; i++) {
                made->sales.push_back(sale_of(i));
                made->sorted.emplace(i * 37 % COUNT, sale_of(i));
        }
        return made;
}

NOINLINE static double sum_arena(const arena &all)
{
        double sum = 0;

        for (const sale &s : all.sales)
                sum += s.rebate + s.item;
        for (const auto &entry : all.sorted)
                sum += (double)entry.second.amount + entry.first;
        return sum;
}

/* ---- the truth ---- */

/* SALE in the block of std::make_shared: its fields also belong to the block's type. */
#define SALE(member)                                                                     \
        SAY(sale, member, "std::_Sp_counted_ptr_inplace<*:_M_impl._M_storage." #member)

/* A shape as the variant's and as its alternative's own: ours: libstdc++'s. */
#define SHAPE(type, member, ours, theirs)                                                \
        SAY(type, member,                                                                \
            "std::variant<*:" ours "." #member                                           \
            " std::__detail::__variant::_Variadic_union<*:" ours "." #member)

/* An entry of the map, which is a part of its node. */
static void say_entry()
{
        const std::pair<const int, sale> *entry = nullptr;
        const size_t at = (size_t)&entry->second;
        const struct {
                const char *name;
                size_t offset, bytes;
        } members[] = {{"first", 0, 4},
                       {"second.amount", at + offsetof(sale, amount), 8},
                       {"second.item", at + offsetof(sale, item), 4},
                       {"second.shop", at + offsetof(sale, shop), 2},
                       {"second.rebate", at + offsetof(sale, rebate), 8}};

        for (const auto &m : members) {
                std::string also =
                    std::string("std::_Rb_tree_node<*:_M_storage.") + m.name;

                if (m.offset >= at)
                        also += std::string(" sale:") + (m.name + sizeof("second"));
                truth_field("std::pair<int const, sale>", m.name, m.offset, m.bytes,
                            also.c_str());
        }
}

static void say_fields()
{
        SALE(amount);
        SALE(item);
        SALE(shop);
        SALE(rebate);
        say_entry();
        truth_field(
            "person", "name.size", offsetof(person, name) + 8, 8,
            "person:name._M_string_length std::__cxx11::basic_string<*:_M_string_length");
        truth_field(
            "person", "name.pointer", offsetof(person, name), 8,
            "person:name._M_dataplus._M_p std::__cxx11::basic_string<*:_M_dataplus._M_p");
        truth_field("person", "name.local", offsetof(person, name) + 16, 16,
                    "person:name._M_local_buf[] person:name.[_M_local_buf] char: "
                    "std::__cxx11::basic_string<*:_M_local_buf[]");
        SAY(person, age, "");
        truth_field("shape", "_M_index", sizeof(shape) - 8, 1,
                    "std::variant<*:_M_index "
                    "std::__detail::__variant::_Variant_storage<*:_M_index");
        SHAPE(circle, radius, "_M_u._M_first._M_storage",
              "__impl_.__data.__tail.__head.__value");
        SHAPE(circle, colour, "_M_u._M_first._M_storage",
              "__impl_.__data.__tail.__head.__value");
        SHAPE(box, width, "_M_u._M_rest._M_first._M_storage", "");
        SHAPE(box, height, "_M_u._M_rest._M_first._M_storage", "");
        SHAPE(box, weight, "_M_u._M_rest._M_first._M_storage", "");
        /* The compilers name the closure's type and its members, in the captures'
         * order. */
        truth_field("scaling", "scale", 0, 8, "*:__scale *:scale");
        truth_field("scaling", "shift", 8, 8, "*:__shift *:shift");
        truth_field("scaling", "limit", 16, 8, "*:__limit *:limit");
        truth_field("scaling", "extra", 24, 8, "*:__extra *:extra");
}

template <class sales> static void say_sales(const char *site, const sales &all)
{
        for (const sale &s : all)
                truth_object("heap", site, "sale", &s, sizeof(sale), 1, "*");
}

template <class map>
static void say_map(const char *site, const char *type, const map &all)
{
        for (const auto &entry : all)
                truth_object("heap", site, type, &entry, sizeof(entry), 1, "*");
}

/* The offset of a member in an object of its class, by its address. */
template <class object, class member>
static size_t place_in(const object *whole, const member *part)
{
        return (size_t)((const char *)part - (const char *)whole);
}

static void say_machines(const std::vector<machine *> &machines)
{
        const machine *m = machines[0];

        truth_field("machine", "uses", place_in(m, &m->uses), 4, "counted:uses");
        truth_field("machine", "born", place_in(m, &m->born), 8, "counted:born");
        truth_field("machine", "_vptr.named", 16, 8,
                    "machine:_vptr$named named:_vptr.named named:_vptr$named");
        truth_field("machine", "serial", place_in(m, &m->serial), 8, "named:serial");
        truth_field("machine", "power", place_in(m, &m->power), 8, "");
        for (const machine *each : machines)
                TRUTH_HEAP("make_machines", "machine", each, 1);
}

static void say_terminals(const std::vector<std::unique_ptr<terminal>> &terminals)
{
        const terminal *t = terminals[0].get();

        truth_field("terminal", "keys", place_in(t, &t->keys), 8, "input:keys");
        truth_field("terminal", "pixels", place_in(t, &t->pixels), 8, "output:pixels");
        truth_field("terminal", "speed", place_in(t, &t->speed), 4, "");
        truth_field("terminal", "address", place_in(t, &t->address), 8, "device:address");
        truth_field("terminal", "_vptr.input", 0, 8,
                    "terminal:_vptr$input input:_vptr.input input:_vptr$input");
        for (const auto &each : terminals)
                TRUTH_HEAP("make_terminals", "terminal", each.get(), 1);
}

static void say_accounts(const std::vector<account> &accounts)
{
        const account *a = accounts.data();

        truth_field("account", "paid::amount", place_in(a, &a->paid::amount), 8,
                    "paid:amount");
        truth_field("account", "owed::amount", place_in(a, &a->owed::amount), 8,
                    "owed:amount");
        truth_field("account", "amount", place_in(a, &a->amount), 4, "");
        truth_field("account", "tax", place_in(a, &a->tax), 8,
                    "paid:tax account:paid::tax");
        truth_field("account", "since", place_in(a, &a->since), 8,
                    "owed:since account:owed::since");
        TRUTH_HEAP("make_accounts", "account", a, COUNT);
}

/* The types as each of the compilers writes them. */
static void say_records(const std::vector<record> &records)
{
        const record *r = records.data();

        truth_field("record", "long", place_in(r, &r->part<2, long>::value), 8,
                    "parts<*:part<2,~long>::value parts<*:part<2,~long~int>::value "
                    "part<*:value");
        truth_field("record", "double", place_in(r, &r->part<1, double>::value), 8,
                    "parts<*:part<1,~double>::value part<*:value");
        truth_field("record", "short", place_in(r, &r->part<0, short>::value), 2,
                    "parts<*:parts<short>::value parts<*:parts<short~int>::value "
                    "part<*:value");
        TRUTH_HEAP("make_records", "record", r, COUNT);
}

static void say_shapes(const std::vector<shape> &shapes)
{
        truth_object("heap", "make_shapes at ", "shape", shapes.data(), sizeof(shape),
                     shapes.size(), "*");
        for (const shape &s : shapes) {
                if (const circle *c = std::get_if<circle>(&s))
                        TRUTH_HEAP("make_shapes", "circle", c, 1);
                else if (const box *b = std::get_if<box>(&s))
                        TRUTH_HEAP("make_shapes", "box", b, 1);
        }
}

int main()
{
        truth_open();
        say_fields();
        auto shared = make_shared_sales();
        auto shapes = make_shapes();
        auto functions = make_functions();
        auto machines = make_machines();
        auto terminals = make_terminals();
        auto accounts = make_accounts();
        auto records = make_records();
        auto people = make_people();
        auto arena = make_arena();
        auto deque = make_deque(); /* last, as it frees memory while it grows */

        say_sales("make_deque at ", deque);
        for (const auto &s : shared)
                truth_object("heap", "make_shared_sales at ", "sale", s.get(),
                             sizeof(sale), 1, "*");
        say_shapes(shapes);
        for (const auto &function : functions)
                truth_object("heap", "make_functions at ", "scaling",
                             function.target<scaling>(), sizeof(scaling), 1, "*");
        say_machines(machines);
        say_terminals(terminals);
        say_accounts(accounts);
        say_records(records);
        truth_object("heap", "make_people at ", "person", people.data(), sizeof(person),
                     COUNT, "*");
        say_sales("make_arena at ", arena->sales);
        say_map("make_arena at ", "std::pair<int const, sale>", arena->sorted);
        for (int i = 0; i < ROUNDS; i++) {
                double sum = sum_deque(deque) + sum_shared(shared) + area_of(shapes) +
                             sum_terminals(terminals) + sum_accounts(accounts) +
                             sum_records(records) + sum_arena(*arena);

                result += (uint64_t)sum;
                result += (uint64_t)(pick_deque(deque, 3) + call_all(functions) +
                                     ask_machines(machines) + sum_addresses(terminals) +
                                     sum_people(people));
        }
        truth_close();
        return 0;
}
