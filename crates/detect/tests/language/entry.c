/*@ spec
fault entries
title "where functions start"
observe
  at entry   require false
*/
int counter;
static void called(void) {
  counter++;               //~ fault[entries]
}
int main(void) {
  called();                //~ fault[entries]
  return counter;
}
int declared_only(void);   //~ ok[entries]
