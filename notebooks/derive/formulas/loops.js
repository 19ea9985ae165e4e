const maxOver = (count, body) => {
  let found = -Infinity;
  for (let index = 0; index < count; index += 1) found = Math.max(found, body(index));
  return found;
};
const minOver = (count, body) => -maxOver(count, (index) => -body(index));
const sumOver = (count, body) => {
  let found = 0;
  for (let index = 0; index < count; index += 1) found += body(index);
  return found;
};
