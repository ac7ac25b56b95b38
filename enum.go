package bourse

func word[E ~uint8](words []string, e E) string {
	if int(e) < len(words) {
		return words[e]
	}
	return "unknown"
}

func parseWord[E ~uint8](words []string, s string) (E, bool) {
	for i, w := range words[1:] {
		if w == s {
			return E(i + 1), true
		}
	}
	return 0, false
}
