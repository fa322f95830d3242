/** Puts the cursor into the search field of every page. */
export function find() {
  const field = document.getElementById("find");
  field.focus();
  field.select();
}
