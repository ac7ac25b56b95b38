import { mount } from 'svelte';
import './theme.css';
import App from './App.svelte';
import { startClock } from './clock.svelte';
import { door } from './door';
import { listen } from './router.svelte';
import { loadSession } from './session.svelte';
import { applySettings, watchSystem } from './settings.svelte';

const dressed = applySettings();
watchSystem();
startClock();
listen();
door.lost = () => void loadSession();
void loadSession();

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app');
void dressed.then(() => mount(App, { target }));
