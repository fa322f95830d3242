/** Puts the cursor into the field that every page has. */
export function find() {
  const field = document.getElementById("find");
  field.focus();
  field.select();
}
