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
export const settings: Settings = $state(known(chosen()));

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

/**
 * choose shows a setting that a person chose and keeps it, beside those that were chosen before, in other tabs too. The rest
 * is not kept, so that it follows a later version's own.
 */
export function choose(name: keyof Settings, value: string | boolean): void {
  const stored = { ...chosen(), [name]: value };
  Object.assign(settings, known(stored));
  void applySettings();
  keep('localStorage', 'settings', stored);
}

/** watchSystem follows the system's theme, and changes that another tab makes. */
export function watchSystem(): void {
  system.addEventListener('change', () => void applySettings());
  addEventListener('storage', (event) => {
    if (event.key !== 'bourse.settings') return;
    Object.assign(settings, known(chosen()));
    void applySettings();
  });
}

/** chosen reads what was chosen in this browser so far. */
function chosen(): Partial<Record<keyof Settings, unknown>> {
  return recall('localStorage', 'settings', {});
}

/** known answers all settings: the stored ones, and the initial ones for what is not stored or this version does not know. */
function known(stored: Partial<Record<keyof Settings, unknown>>): Settings {
  return {
    theme: themes.find((one) => one === stored.theme) ?? initial.theme,
    colours: colourings.find((one) => one === stored.colours) ?? initial.colours,
    density: densities.find((one) => one === stored.density) ?? initial.density,
    language: [SYSTEM, ...languages.map((one) => one.code)].find((one) => one === stored.language) ?? initial.language,
    hotkeys: stored.hotkeys !== false,
  };
}
