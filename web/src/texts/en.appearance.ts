/** appearance has the texts of the settings' form, which customers and operators have. */
export const appearance = {
  'appearance.title': 'Appearance',
  'appearance.system': 'As the browser',
  'appearance.language': 'Language',
  'appearance.theme': 'Theme',
  'appearance.colours': 'Colours of buying and selling',
  'appearance.density': 'Density',
  'theme.system': 'As the system',
  'theme.dark': 'Dark',
  'theme.light': 'Light',
  'colours.standard': 'Green and red',
  'colours.blind': 'Blue and orange',
  'density.comfortable': 'Comfortable',
  'density.compact': 'Compact',
  'density.dense': 'Dense',
} as const satisfies Record<string, string>;
