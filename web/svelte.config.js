/** Every component uses runes; a template's style attribute would break the content policy, so there is none. */
export default {
  compilerOptions: { runes: true },
};
