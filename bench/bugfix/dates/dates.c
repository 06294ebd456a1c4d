/* Days between dates and days of the week: reads YEAR MONTH DAY lines */
#include <stdio.h>

static const int lengths[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int month_length(int year, int month)
{
    if (month == 2 && is_leap(year))
        return 29;
    return lengths[month - 1];
}

static int is_valid(int year, int month, int day)
{
    if (year < 1600)
        return 0;
    if (month < 1 || month > 12)
        return 0;
    return day >= 1 && day <= month_length(year, month);
}

static int day_of_year(int year, int month, int day)
{
    int m;
    int days = day;
    for (m = 1; m < month; m++)
        days += month_length(year, m);
    return days;
}

static long day_number(int year, int month, int day)
{
    long before = year - 1;
    long days = before * 365 + before / 4 - before / 100 + before / 400;
    return days + day_of_year(year, month, day);
}

static int weekday(long number)
{
    return number % 7;
}

static int week(int year, int month, int day)
{
    int start = weekday(day_number(year, 1, 1));
    return (day_of_year(year, month, day) - 1 + start) / 7 + 1;
}

static int is_weekend(long number)
{
    int day = weekday(number);
    return day == 0 || day == 6;
}

int main(void)
{
    int year, month, day;
    long last = 0;
    while (scanf("%d %d %d", &year, &month, &day) == 3) {
        long number;
        if (!is_valid(year, month, day)) {
            printf("invalid\n");
            continue;
        }
        number = day_number(year, month, day);
        printf("%d %d %d %d", day_of_year(year, month, day), weekday(number),
               week(year, month, day), is_weekend(number));
        if (last > 0)
            printf(" %ld", number > last ? number - last : last - number);
        printf("\n");
        last = number;
    }
    return 0;
}
