import { chooseLanguage } from '../texts/index.svelte';
import { languages, SYSTEM } from '../texts/languages';
import { keep, recall } from './keep';

export const themes = ['system', 'dark', 'light'] as const;
export const colourings = ['standard', 'blind'] as const;
export const densities = ['comfortable', 'compact', 'dense'] as const;

export interface Settings {
  theme: (typeof themes)[number];
  colours: (typeof colourings)[number];
  density: (typeof densities)[number];
  /** language is a code, or SYSTEM for the browser's. */
  language: string;
  /** hotkeys turns single keys of the trading page on. */
  hotkeys: boolean;
}

const initial: Settings = { theme: 'system', colours: 'standard', density: 'comfortable', language: SYSTEM, hotkeys: true };

/** settings belong to this browser, not to an account. */
export const settings: Settings = $state(known({ ...initial, ...recall<Partial<Settings>>('localStorage', 'settings', {}) }));

/** shade is the theme that is shown: the system's where the settings leave it to that. */
export const shade = $state({ name: 'dark' as 'dark' | 'light' });

const system = matchMedia('(prefers-color-scheme: light)');

/** applySettings shows the settings, at the start and after each change. It resolves once the language's texts are there. */
export function applySettings(): Promise<void> {
  const root = document.documentElement;
  shade.name = settings.theme === 'system' ? (system.matches ? 'light' : 'dark') : settings.theme;
  root.dataset['shade'] = shade.name;
  root.dataset['colours'] = settings.colours;
  root.dataset['density'] = settings.density;

  return chooseLanguage(settings.language);
}

/** changeSettings shows changed settings and keeps them: those that nobody chose follow a later version's own. */
export function changeSettings(): void {
  void applySettings();
  keep('localStorage', 'settings', settings);
}

/** watchSystem follows the system's theme, and changes that another tab makes. */
export function watchSystem(): void {
  system.addEventListener('change', () => void applySettings());
  addEventListener('storage', (event) => {
    if (event.key !== 'bourse.settings') return;
    Object.assign(settings, known({ ...initial, ...recall<Partial<Settings>>('localStorage', 'settings', {}) }));
    void applySettings();
  });
}

/** known replaces what an older or another version stored and this one does not know. */
function known(stored: Settings): Settings {
  return {
    theme: themes.includes(stored.theme) ? stored.theme : initial.theme,
    colours: colourings.includes(stored.colours) ? stored.colours : initial.colours,
    density: densities.includes(stored.density) ? stored.density : initial.density,
    language: [SYSTEM, ...languages.map((one) => one.code)].includes(stored.language) ? stored.language : initial.language,
    hotkeys: stored.hotkeys !== false,
  };
}
