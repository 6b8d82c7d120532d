/* Small functions of which a translated rule takes those that it calls; NUMBER is the type that they are for. */

static NUMBER max_of_NUMBER(NUMBER a, NUMBER b)
{
    return b > a ? b : a;
}

static NUMBER min_of_NUMBER(NUMBER a, NUMBER b)
{
    return b < a ? b : a;
}

static NUMBER sum_of_NUMBER(const NUMBER *numbers, int64_t size)
{
    NUMBER sum = 0;
    for (int64_t i = 0; i < size; i++) {
        sum += numbers[i];
    }
    return sum;
}

static void fill_NUMBER(NUMBER *numbers, int64_t size, NUMBER value)
{
    for (int64_t i = 0; i < size; i++) {
        numbers[i] = value;
    }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    const int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    const int64_t rest = a % b;
    return rest + (rest != 0 && (rest < 0) != (b < 0) ? b : 0);
}

/* A number without what follows its point, as far as 64 bits go. */
static int64_t to_whole(NUMBER x)
{
    if (!(x > (NUMBER)-9.2e18)) return x < 0 ? -INT64_C(9200000000000000000) : 0;
    return x < (NUMBER)9.2e18 ? (int64_t)x : INT64_C(9200000000000000000);
}

static int64_t bits_of(NUMBER x)
{
    const double number = x;
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static NUMBER from_bits(int64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return (NUMBER)number;
}
