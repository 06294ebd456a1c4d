/* K&R definitions, implicit int. */
static counter;

old(a, b)
int a, b;
{
  counter++;
  return a + b + counter;
}
